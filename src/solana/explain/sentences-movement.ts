import type { SupplyInterpretation, TransferInterpretation } from '../analysis/interpretation.ts';
import type { NetChange } from '../analysis/net-change.ts';
import type { AssetAmount } from '../analysis/wallet-changes.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmounts, formatSol } from './sentence-formats.ts';

/** What the sentence of a transfer says. */
type Sent = Pick<TransferInterpretation, 'actor' | 'program' | 'payments' | 'gained' | 'lost'> &
  Partial<Pick<TransferInterpretation, 'tips'>>;

export function describeTransfer(sent: Sent, formatAddress: FormatAddress): string {
  const { actor, program, payments, tips = [], gained, lost } = sent;
  const via = programPhrase(program, 'through', formatAddress);
  const [first] = payments;
  if (first === undefined) {
    const tip = tips.reduce((sum, { amount }) => sum + amount, 0n);
    const flows = [
      gained.length > 0 ? `received ${formatAmounts(gained, formatAddress)}` : null,
      lost.length > 0 ? `paid ${formatAmounts(lost, formatAddress)}` : null,
    ].filter((flow) => flow !== null);
    if (flows.length > 0) return `${formatAddress(actor)} ${flows.join(' and ')}${via}`;
    if (tip === 0n) return `${formatAddress(actor)} made a transfer that changed no balance`;
    return `${formatAddress(tips[0]?.from ?? actor)} paid a tip of ${formatSol(tip)} to Jito and did nothing else`;
  }
  const senders = new Set(payments.map(({ from }) => from));
  const receivers = new Set(payments.map(({ to }) => to));
  if (senders.size > 1 && receivers.size > 1) return describeManyToMany(sent, formatAddress) + via;
  const prefix = receivers.size > 1 && new Set(payments.map(({ mint }) => mint)).size === 1 ? 'a total of ' : '';
  const to = receivers.size === 1 && senders.has(first.to) ? 'itself' : formatAccounts(receivers, formatAddress);
  return `${formatAccounts(senders, formatAddress)} sent ${prefix}${formatAmounts(payments, formatAddress)} to ${to}${via}`;
}

/**
 * Describes transfers of many senders to many receivers by what each of them has less or more in the end: who passed on
 * what came in is no party.
 */
function describeManyToMany({ actor, payments }: Sent, formatAddress: FormatAddress): string {
  const net = netPayments(payments);
  const sent = net.filter(({ wallet, amount }) => wallet === actor && amount < 0n).map(toGain);
  const received = net.filter(({ wallet, amount }) => wallet === actor && amount > 0n);
  if (sent.length + received.length > 0) {
    const flows = [
      sent.length > 0 ? `sent ${formatAmounts(sent, formatAddress)}` : null,
      received.length > 0 ? `received ${formatAmounts(received, formatAddress)}` : null,
    ].filter((flow) => flow !== null);
    return `${formatAddress(actor)} ${flows.join(' and ')}`;
  }
  const losses = net.filter(({ amount }) => amount < 0n);
  const gains = net.filter(({ amount }) => amount > 0n);
  const from = formatAccounts(new Set(losses.map(({ wallet }) => wallet)), formatAddress);
  const to = formatAccounts(new Set(gains.map(({ wallet }) => wallet)), formatAddress);
  return gains.length === 0
    ? `${formatAddress(actor)} made transfers that changed no balance`
    : `${formatAddress(actor)} moved ${formatAmounts(gains, formatAddress)} from ${from} to ${to}`;
}

interface NetPayment extends AssetAmount {
  readonly wallet: string;
}

/** Sums payments by wallet and mint; what evens out is left out. */
function netPayments(payments: Sent['payments']): readonly NetPayment[] {
  const sums = new Map<string, NetPayment>();
  for (const { from, to, mint, amount, decimals } of payments)
    for (const [wallet, change] of [
      [from, -amount],
      [to, amount],
    ] as const) {
      const key = `${wallet} ${mint}`;
      sums.set(key, { wallet, mint, decimals, amount: (sums.get(key)?.amount ?? 0n) + change });
    }
  return [...sums.values()].filter(({ amount }) => amount !== 0n);
}

const toGain = ({ amount, ...rest }: NetPayment): NetPayment => ({ ...rest, amount: -amount });

export function describeMint(interpretation: SupplyInterpretation, formatAddress: FormatAddress): string {
  const { actor, program, amounts } = interpretation;
  return `${formatAddress(actor)} minted ${formatAmounts(amounts, formatAddress)}${pricePhrase(interpretation, formatAddress)}${programPhrase(program, 'with', formatAddress)}`;
}

export function describeBurn(
  { actor, holders, program, amounts, gained }: SupplyInterpretation,
  formatAddress: FormatAddress,
): string {
  const receiver = holders.size === 1 && holders.has(actor) ? '' : ` ${formatAddress(actor)}`;
  const proceeds = gained.length === 0 ? '' : ` and${receiver} received ${formatAmounts(gained, formatAddress)}`;
  return `${formatAccounts(holders, formatAddress)} burned ${formatAmounts(amounts, formatAddress)}${proceeds}${programPhrase(program, 'with', formatAddress)}`;
}

/** Returns ` for 0.5 SOL`, or nothing if nothing was paid. */
const pricePhrase = ({ lost }: NetChange, formatAddress: FormatAddress): string =>
  lost.length === 0 ? '' : ` for ${formatAmounts(lost, formatAddress)}`;
