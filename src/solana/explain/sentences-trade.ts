import type {
  ArbitrageInterpretation,
  ExchangeOfValueInterpretation,
  LaunchInterpretation,
  OrderFillInterpretation,
  SwapInterpretation,
  Told,
} from '../analysis/interpretation.ts';
import { exchangeNames, programLabel, programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmounts, formatSol, quote } from './sentence-formats.ts';

export function describeSwap(
  { actor, program, swap, passedOn }: SwapInterpretation,
  formatAddress: FormatAddress,
): string {
  const venue = programPhrase(program, 'on', formatAddress);
  if (swap === null) return `${formatAddress(actor)} had assets traded${venue}`;
  const [inputs, outputs] = [formatAmounts(swap.inputs, formatAddress), formatAmounts(swap.outputs, formatAddress)];
  const then =
    passedOn === null
      ? ''
      : `, then sent ${formatAmounts(passedOn.amounts, formatAddress)} on${programPhrase(passedOn.program, 'through', formatAddress)}`;
  return swap.wallet === null
    ? `${formatAddress(actor)} had ${inputs} traded for ${outputs}${venue}`
    : `${formatAddress(actor)} swapped ${inputs} for ${outputs}${venue}${then}`;
}

/** Describes the launch of a token, and what was bought of it at once. */
export function describeLaunch(
  { actor, program, mint, name, symbol, swap }: LaunchInterpretation,
  formatAddress: FormatAddress,
): string {
  const title = name === null || symbol === null ? '' : ` ${quote(name)} (${symbol})`;
  const token = `the token${title}${mint === null ? '' : ` ${formatAddress(mint)}`}`;
  const bought =
    swap === null
      ? ''
      : ` and bought ${formatAmounts(swap.outputs, formatAddress)} for ${formatAmounts(swap.inputs, formatAddress)}`;
  return `${formatAddress(actor)} launched ${token}${programPhrase(program, 'on', formatAddress)}${bought}`;
}

export function describeOrderFill(
  { actor, program, swap }: OrderFillInterpretation,
  formatAddress: FormatAddress,
): string {
  const venue = programPhrase(program, 'on', formatAddress);
  return swap === null
    ? `an order of ${formatAddress(actor)}${venue} was to be filled`
    : `${formatAddress(actor)} swapped ${formatAmounts(swap.inputs, formatAddress)} for ${formatAmounts(swap.outputs, formatAddress)}${venue}`;
}

export function describeArbitrage(
  { actor, program, exchanges, hasTraded, gained, lost, payments, tip, solChange }: Told<ArbitrageInterpretation>,
  formatAddress: FormatAddress,
): string {
  if (!hasTraded) {
    const caller = program === null ? '' : ` through ${programLabel(program, formatAddress)}`;
    return `${formatAddress(actor)} looked for a trade on ${exchangeNames(exchanges)}${caller} and made none`;
  }
  const venue = exchanges.length > 0 ? ` on ${exchangeNames(exchanges)}` : programPhrase(program, 'on', formatAddress);
  const outcome =
    gained.length > 0
      ? `made ${formatAmounts(gained, formatAddress)} by arbitrage${venue}`
      : lost.length > 0
        ? `lost ${formatAmounts(lost, formatAddress)} by arbitrage${venue}`
        : `traded${venue} for the same amount in the end`;
  const paid =
    payments.length === 0
      ? ''
      : ` and paid ${formatAmounts(payments, formatAddress)} to ${formatAccounts(new Set(payments.map(({ to }) => to)), formatAddress)}`;
  const cost = tip > 0n ? 'fee and tip' : 'the fee';
  const total = solChange > 0n ? `${formatSol(solChange)} more` : `${formatSol(-solChange)} less`;
  return `${formatAddress(actor)} ${outcome}${paid}: ${total} in all, with ${cost}`;
}

/** What somebody did: with what was given, with what was got, and where neither is known. */
const DEEDS: Readonly<
  Record<ExchangeOfValueInterpretation['type'], readonly [gave: string, got: string, did: string]>
> = {
  ADD_TO_POOL: ['put into a pool', 'got', 'added to a pool'],
  REMOVE_FROM_POOL: ['gave', 'took out of a pool', 'took something out of a pool'],
  OPEN_ORDER: ['opened an order with', 'got', 'opened an order'],
  CANCEL_ORDER: ['paid', 'cancelled an order and got back', 'cancelled orders'],
  BORROW: ['left', 'borrowed', 'borrowed something'],
  REPAY_LOAN: ['repaid', 'got back', 'repaid a loan'],
  DEPOSIT: ['deposited', 'got', 'made a deposit'],
  WITHDRAW: ['gave', 'withdrew', 'made a withdrawal'],
  LIQUIDATE: ['repaid for somebody else', 'took over', 'took over collateral'],
  CLAIM: ['paid', 'claimed', 'made a claim'],
};

/** Describes what somebody gave to a program and got from it. */
export function describeExchangeOfValue(
  { type, actor, program, gained, lost }: ExchangeOfValueInterpretation,
  formatAddress: FormatAddress,
): string {
  const [gave, got, did] = DEEDS[type];
  const at = programPhrase(program, 'on', formatAddress);
  const parts = [
    lost.length > 0 ? `${gave} ${formatAmounts(lost, formatAddress)}` : null,
    gained.length > 0 ? `${got} ${formatAmounts(gained, formatAddress)}` : null,
  ].filter((part) => part !== null);
  return parts.length === 0
    ? `${formatAddress(actor)} ${did}${at}`
    : `${formatAddress(actor)} ${parts.join(' and ')}${at}`;
}
