import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { findSwap } from '../analysis/find-swap.ts';
import { findMainProgram } from '../analysis/main-program.ts';
import { feePayerNetChange } from '../analysis/net-change.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { findPayments, findSupplyChanges, isNftAmount } from '../analysis/payments.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmount, formatAmounts } from './sentence-formats.ts';

export function describeSwap(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const swap = findSwap(parsed);
  const venue = programPhrase(parsed, 'on', formatAddress);
  if (swap !== null) {
    const trade = `${formatAmounts(swap.inputs, formatAddress)} traded against ${formatAmounts(swap.outputs, formatAddress)}`;
    if (swap.wallet === null) return `${formatAddress(parsed.feePayer)} had ${trade}${venue}`;
    return `${formatAddress(swap.wallet)} swapped ${formatAmounts(swap.inputs, formatAddress)} for ${formatAmounts(swap.outputs, formatAddress)}${venue}`;
  }
  const { gained, lost } = feePayerNetChange(parsed);
  const outcome =
    gained.length > 0
      ? `ended up with ${formatAmounts(gained, formatAddress)} more`
      : lost.length > 0
        ? `ended up with ${formatAmounts(lost, formatAddress)} less`
        : 'ended up with what was there before';
  return `${formatAddress(parsed.feePayer)} traded in a circle${venue} and ${outcome}`;
}

export function describeTransfer(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const payments = findPayments(parsed);
  const via = programPhrase(parsed, 'through', formatAddress);
  const [first] = payments;
  if (first === undefined) {
    const { gained, lost } = feePayerNetChange(parsed);
    const flows = [
      gained.length > 0 ? `received ${formatAmounts(gained, formatAddress)}` : null,
      lost.length > 0 ? `paid ${formatAmounts(lost, formatAddress)}` : null,
    ];
    return `${formatAddress(parsed.feePayer)} ${flows.filter((flow) => flow !== null).join(' and ')}${via}`;
  }
  const senders = new Set(payments.map(({ from }) => from));
  const receivers = new Set(payments.map(({ to }) => to));
  if (senders.size > 1 && receivers.size > 1) return describeManyToMany(parsed, formatAddress) + via;
  const prefix = receivers.size > 1 && new Set(payments.map(({ mint }) => mint)).size === 1 ? 'a total of ' : '';
  const to = receivers.size === 1 && senders.has(first.to) ? 'itself' : formatAccounts(receivers, formatAddress);
  return `${formatAccounts(senders, formatAddress)} sent ${prefix}${formatAmounts(payments, formatAddress)} to ${to}${via}`;
}

/** Describes transfers of many senders to many receivers by what the fee payer sent and received. */
function describeManyToMany(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const payments = findPayments(parsed);
  const sent = payments.filter(({ from, to }) => from === parsed.feePayer && to !== parsed.feePayer);
  const received = payments.filter(({ from, to }) => to === parsed.feePayer && from !== parsed.feePayer);
  const flows = [
    sent.length > 0
      ? `sent ${formatAmounts(sent, formatAddress)} to ${formatAccounts(new Set(sent.map(({ to }) => to)), formatAddress)}`
      : null,
    received.length > 0
      ? `received ${formatAmounts(received, formatAddress)} from ${formatAccounts(new Set(received.map(({ from }) => from)), formatAddress)}`
      : null,
  ].filter((flow) => flow !== null);
  if (flows.length > 0) return `${formatAddress(parsed.feePayer)} ${flows.join(' and ')}`;
  const parties = new Set(payments.flatMap(({ from, to }) => [from, to]));
  return `${formatAddress(parsed.feePayer)} had ${formatAmounts(payments, formatAddress)} moved between ${parties.size} accounts`;
}

/** Describes an NFT that changed owners, for SOL or not. */
export function describeNftTransfer(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const swap = findSwap(parsed);
  const venue = programPhrase(parsed, 'on', formatAddress);
  if (swap !== null && swap.wallet !== null) {
    const verb = swap.outputs.some(isNftAmount) ? 'bought' : 'sold';
    const [nft, price] = verb === 'bought' ? [swap.outputs, swap.inputs] : [swap.inputs, swap.outputs];
    return `${formatAddress(swap.wallet)} ${verb} ${formatAmounts(nft, formatAddress)} for ${formatAmounts(price, formatAddress)}${venue}`;
  }
  const [transferred] = findPayments(parsed).filter(isNftAmount);
  if (transferred === undefined) return `${formatAddress(parsed.feePayer)} transferred a compressed NFT${venue}`;
  const { gained } = feePayerNetChange(parsed);
  const received = gained.filter(({ mint }) => mint === WRAPPED_SOL);
  if (findMainProgram(parsed) === null || received.length === 0) return describeTransfer(parsed, formatAddress);
  return `${formatAmount(transferred, formatAddress).replace(/^t/, 'T')} went to ${formatAddress(transferred.to)}${venue}, and ${formatAddress(parsed.feePayer)} received ${formatAmounts(received, formatAddress)}`;
}

export function describeMint(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const minted = findSupplyChanges(parsed, 'minted');
  const mintedText = minted.length === 0 ? 'a compressed NFT' : formatAmounts(minted, formatAddress);
  return `${formatAddress(parsed.feePayer)} minted ${mintedText}${pricePhrase(parsed, formatAddress)}${programPhrase(parsed, 'with', formatAddress)}`;
}

export function describeBurn(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const burned = findSupplyChanges(parsed, 'burned');
  const holders = new Set(
    parsed.tokenTransfers
      .filter(({ toTokenAccount }) => toTokenAccount === null)
      .map(({ fromUserAccount }) => fromUserAccount ?? parsed.feePayer),
  );
  if (burned.length === 0) return `${formatAddress(parsed.feePayer)} burned a compressed NFT`;
  return `${formatAccounts(holders, formatAddress)} burned ${formatAmounts(burned, formatAddress)}${proceedsPhrase(parsed, formatAddress)}${programPhrase(parsed, 'with', formatAddress)}`;
}

/** Returns ` for 0.5 SOL`, or nothing if nothing was paid. */
function pricePhrase(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const { lost } = feePayerNetChange(parsed);
  return lost.length === 0 ? '' : ` for ${formatAmounts(lost, formatAddress)}`;
}

/** Returns ` and received 0.5 SOL`, or nothing if nothing came in return. */
function proceedsPhrase(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const { gained } = feePayerNetChange(parsed);
  return gained.length === 0 ? '' : ` and received ${formatAmounts(gained, formatAddress)}`;
}
