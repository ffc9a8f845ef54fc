import type {
  ArbitrageInterpretation,
  ExchangeOfValueInterpretation,
  OrderFillInterpretation,
  SwapInterpretation,
} from '../analysis/interpretation.ts';
import { exchangeNames, programLabel, programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAmounts, formatSol } from './sentence-formats.ts';

export function describeSwap({ actor, program, swap }: SwapInterpretation, formatAddress: FormatAddress): string {
  const venue = programPhrase(program, 'on', formatAddress);
  if (swap === null) return `${formatAddress(actor)} tried to trade${venue}`;
  const [inputs, outputs] = [formatAmounts(swap.inputs, formatAddress), formatAmounts(swap.outputs, formatAddress)];
  return swap.wallet === null
    ? `${formatAddress(actor)} had ${inputs} traded for ${outputs}${venue}`
    : `${formatAddress(actor)} swapped ${inputs} for ${outputs}${venue}`;
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
  { actor, program, exchanges, hasTraded, gained, lost, tips, solChange }: ArbitrageInterpretation,
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
  const tip = tips.reduce((sum, { amount }) => sum + amount, 0n);
  const paid = tip === 0n ? '' : ` and paid a tip of ${formatSol(tip)}`;
  const total = solChange > 0n ? `${formatSol(solChange)} more` : `${formatSol(-solChange)} less`;
  return `${formatAddress(actor)} ${outcome}${paid}: ${total} in all, with the fee`;
}

const VERBS: Readonly<
  Record<ExchangeOfValueInterpretation['type'], readonly [gave: string, got: string, tried: string]>
> = {
  ADD_TO_POOL: ['put', 'took', 'add to a pool'],
  REMOVE_FROM_POOL: ['put', 'took', 'take assets out of a pool'],
  OPEN_ORDER: ['left', 'got', 'open an order'],
  CANCEL_ORDER: ['paid', 'got back', 'cancel an order'],
  BORROW: ['left', 'borrowed', 'borrow'],
  REPAY_LOAN: ['repaid', 'got back', 'repay a loan'],
  DEPOSIT: ['deposited', 'got', 'make a deposit'],
  WITHDRAW: ['gave', 'withdrew', 'make a withdrawal'],
  LIQUIDATE: ['repaid', 'took over', 'take over collateral'],
  CLAIM: ['paid', 'claimed', 'make a claim'],
  CREATE: ['paid', 'got', 'launch a token'],
};

/** Describes what somebody gave to a program and got from it. */
export function describeExchangeOfValue(
  { type, actor, program, gained, lost }: ExchangeOfValueInterpretation,
  formatAddress: FormatAddress,
): string {
  const [gave, got, tried] = VERBS[type];
  const at = programPhrase(program, 'on', formatAddress);
  const parts = [
    lost.length > 0 ? `${gave} ${formatAmounts(lost, formatAddress)}` : null,
    gained.length > 0 ? `${got} ${formatAmounts(gained, formatAddress)}` : null,
  ].filter((part) => part !== null);
  return parts.length === 0
    ? `${formatAddress(actor)} called for this${at}: ${tried}`
    : `${formatAddress(actor)} ${parts.join(' and ')}${at}`;
}
