import { MAX_SYMBOL_CHARACTERS } from '../../shared/domain/quoted-name.ts';
import type { AssetAmount } from '../analysis/asset-amount.ts';
import type {
  ArbitrageInterpretation,
  ExchangeOfValueInterpretation,
  ExchangeType,
  Interpreted,
  LaunchInterpretation,
  OrderFillInterpretation,
  SwapInterpretation,
} from '../analysis/interpretation.ts';
import type { Payment } from '../analysis/payments.ts';
import { quotedWords } from '../errors/quoted-words.ts';
import { exchangeNames, programLabel, programPhrase } from './program-phrase.ts';
import {
  bySize,
  type FormatAddress,
  formatAmounts,
  formatFlows,
  formatNumber,
  formatSol,
  joinPhrases,
  ofOwner,
} from './sentence-formats.ts';
import { moverOf, receiversPhrase } from './sentences-movement.ts';

export function describeSwap({ actor, program, swap }: SwapInterpretation, formatAddress: FormatAddress): string {
  const venue = programPhrase(program, 'on', formatAddress);
  if (swap === null) return `${formatAddress(actor)} let a program trade${venue}`;
  const [inputs, outputs] = [formatAmounts(swap.inputs, formatAddress), formatAmounts(swap.outputs, formatAddress)];
  const { wallet, mover = null } = swap;
  if (wallet === null) return `${formatAddress(actor)} let a program swap ${inputs} for ${outputs}${venue}`;
  const { who, ofWallet } = moverOf(wallet, mover, formatAddress);
  return `${who} swapped ${inputs}${ofWallet} for ${outputs}${venue}`;
}

/** Returns amounts of what was got just before: `4.12 of it` where that was one asset. */
function formatPart(
  amounts: readonly AssetAmount[],
  whole: readonly AssetAmount[],
  formatAddress: FormatAddress,
): string {
  const [part, ...others] = amounts;
  return part !== undefined && others.length === 0 && whole.length === 1 && whole[0]?.mint === part.mint
    ? `${formatNumber(part.amount, part.decimals)} of it`
    : formatAmounts(amounts, formatAddress);
}

/** Describes the launch of a token, and what was bought of it in the same transaction. */
export function describeLaunch(
  { actor, program, mint, name, symbol, swap }: LaunchInterpretation,
  formatAddress: FormatAddress,
): string {
  const [title, ticker] = [name, symbol].map((text) => quotedWords(text ?? '', MAX_SYMBOL_CHARACTERS));
  const parts = [title, title && ticker ? `(${ticker})` : ticker, mint && formatAddress(mint)];
  const token = ['the token', ...parts.filter((part) => part)].join(' ');
  const launched = mint === null ? [] : [{ mint, amount: 0n, decimals: 0 }];
  const bought =
    swap === null
      ? ''
      : ` and bought ${formatPart(swap.outputs, launched, formatAddress)} for ${formatAmounts(swap.inputs, formatAddress)}`;
  return `${formatAddress(actor)} launched ${token}${programPhrase(program, 'on', formatAddress)}${bought}`;
}

export function describeOrderFill(
  { actor, program, swap }: OrderFillInterpretation,
  formatAddress: FormatAddress,
): string {
  const venue = programPhrase(program, 'on', formatAddress);
  return swap === null
    ? `an order${ofOwner(actor, formatAddress)}${venue} was to be filled`
    : `${formatAddress(actor)} swapped ${formatAmounts(swap.inputs, formatAddress)} for ${formatAmounts(swap.outputs, formatAddress)}${venue}`;
}

export function describeArbitrage(
  {
    actor,
    program,
    exchanges,
    hasTraded,
    gained,
    lost,
    payments,
    tips,
    solChange,
  }: Interpreted<ArbitrageInterpretation>,
  formatAddress: FormatAddress,
): string {
  if (!hasTraded) {
    const caller = program === null ? '' : ` through ${programLabel(program, formatAddress)}`;
    return `${formatAddress(actor)} tried to trade on ${exchangeNames(exchanges)}${caller}, but nothing was traded`;
  }
  const venue = exchanges.length > 0 ? ` on ${exchangeNames(exchanges)}` : programPhrase(program, 'on', formatAddress);
  const flows = formatFlows({ made: gained, lost }, formatAddress);
  const outcome = flows === '' ? `tried arbitrage${venue} without gain or loss` : `${flows} by arbitrage${venue}`;
  const paid =
    payments.length === 0 ? '' : ` and paid ${receiversPhrase(payments.toSorted(bySize), actor, '', formatAddress)}`;
  const cost = tips.some(({ from }) => from === actor) ? 'fee and tip' : 'the fee';
  const total = solChange > 0n ? `${formatSol(solChange)} more` : `${formatSol(-solChange)} less`;
  return `${formatAddress(actor)} ${outcome}${paid}${solChange === 0n ? '' : `: ${total} in all, with ${cost}`}`;
}

/** What somebody did, said before and after the program; amounts are null where none is known. */
type Deed = (gave: string | null, got: string | null) => readonly [deed: string, rest: string];

const DEEDS: Readonly<Record<ExchangeType, Deed>> = {
  ADD_TO_POOL: (gave, got) => [gave === null ? 'added to a pool' : `put ${gave} into a pool`, and('got', got)],
  REMOVE_FROM_POOL: (gave, got) => [`took ${got ?? 'something'} out of a pool`, gave === null ? '' : ` for ${gave}`],
  OPEN_ORDER: (gave, got) => [gave === null ? 'opened an order' : `opened an order with ${gave}`, and('got', got)],
  CANCEL_ORDER: (gave, got) => ['cancelled an order', and('got back', got) + and('paid', gave)],
  BORROW: (gave, got) => [`borrowed ${got ?? 'something'}`, and('gave', gave)],
  REPAY_LOAN: (gave, got) => [
    gave === null ? 'repaid a loan' : `repaid ${gave}`,
    got === null ? '' : ` and took back ${got} of collateral`,
  ],
  DEPOSIT: (gave, got) => [gave === null ? 'made a deposit' : `deposited ${gave}`, and('got', got)],
  WITHDRAW: (gave, got) => [
    got === null ? 'made a withdrawal' : `withdrew ${got}`,
    gave === null ? '' : ` for ${gave}`,
  ],
  LIQUIDATE: (gave, got) => ["liquidated somebody else's loan", and('repaid', gave) + and('took over', got)],
  BRIDGE_DEPOSIT: (gave, got) => [`sent ${gave ?? 'something'} to another chain`, and('got', got)],
  BRIDGE_FULFILMENT: (gave, got) => ['from another chain', and('paid', gave) + and('got', got)],
  CLAIM: (gave, got) => [got === null ? 'made a claim' : `claimed ${got}`, and('paid', gave)],
};

const and = (verb: string, amounts: string | null): string => (amounts === null ? '' : ` and ${verb} ${amounts}`);

/** Describes what somebody gave to a program and got from it. */
export function describeExchangeOfValue(
  { type, actor, program, gained, lost, payouts, owners }: ExchangeOfValueInterpretation,
  formatAddress: FormatAddress,
): string {
  const [gave, got] = [lost, gained].map((amounts) =>
    amounts.length === 0 ? null : formatAmounts(amounts, formatAddress),
  );
  const [said, rest] = DEEDS[type](gave ?? null, got ?? null);
  const deed = type === 'BRIDGE_FULFILMENT' ? `fulfilled a transfer${paidOut(payouts, formatAddress)} ${said}` : said;
  const others =
    type === 'REMOVE_FROM_POOL' && payouts.length > 0 ? `, with payouts${paidOut(payouts, formatAddress)}` : '';
  const names = joinPhrases(owners.map((owner) => (owner === actor ? 'itself' : formatAddress(owner))));
  const whose = owners.length === 0 ? '' : ` ${type === 'CANCEL_ORDER' ? 'of' : 'for'} ${names}`;
  return `${formatAddress(actor)} ${deed}${whose}${programPhrase(program, type.startsWith('BRIDGE') ? 'over' : 'on', formatAddress)}${rest}${others}`;
}

/** Returns ` of 5 USDC to 7xKX…gAsU`: what a bridge or a pool paid out to each; nothing if that isn't known. */
const paidOut = (payouts: readonly Payment[], formatAddress: FormatAddress): string =>
  payouts.length === 0 ? '' : ` of ${receiversPhrase(payouts.toSorted(bySize), '', '', formatAddress)}`;
