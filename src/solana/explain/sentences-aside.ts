import type { ConfidentialTransfer } from '../analysis/confidential-transfers.ts';
import type { Told } from '../analysis/interpretation.ts';
import { type FormatAddress, formatAccounts, formatAmounts } from './sentence-formats.ts';
import { describeAuthorityChange } from './sentences-account.ts';

/** Describes what else the transaction did, each with who did it. */
export function describeAsides({ actor, asides }: Told, formatAddress: FormatAddress): readonly string[] {
  const { payments, authorityChange, hiddenTransfers } = asides;
  const parts: string[] = [];
  if (payments.length > 0) {
    const senders = formatAccounts(new Set(payments.map(({ from }) => from)), formatAddress);
    const receivers = new Set(payments.map(({ to }) => to));
    const prefix = receivers.size > 1 && new Set(payments.map(({ mint }) => mint)).size === 1 ? 'a total of ' : '';
    const what = formatAmounts(payments, formatAddress);
    parts.push(`${senders} also sent ${prefix}${what} to ${formatAccounts(receivers, formatAddress)}`);
  }
  if (authorityChange !== null) {
    const who = formatAddress(authorityChange.owner ?? authorityChange.authority ?? actor);
    parts.push(`${who} also ${describeAuthorityChange(authorityChange, formatAddress)}`);
  }
  const [hidden] = hiddenTransfers;
  if (hidden !== undefined) parts.push(describeHidden(hidden, formatAddress));
  return parts;
}

function describeHidden(
  { type, mint, fromUserAccount, fromTokenAccount, toUserAccount, toTokenAccount, amount }: ConfidentialTransfer,
  formatAddress: FormatAddress,
): string {
  const token = mint === null ? 'tokens' : `the token ${formatAddress(mint)}`;
  const [from, to] = [fromUserAccount ?? fromTokenAccount, toUserAccount ?? toTokenAccount].map((party) =>
    party === null ? 'somebody' : formatAddress(party),
  );
  const hiddenAmount = `a hidden amount of ${token}`;
  switch (type) {
    case 'mint':
      return `${hiddenAmount} was minted to ${to}`;
    case 'burn':
      return `${from} burned ${hiddenAmount}`;
    case 'deposit':
      return `${from} moved ${amount ?? 'some'} smallest units of ${token} into a hidden balance`;
    case 'withdraw':
      return `${from} moved ${amount ?? 'some'} smallest units of ${token} out of a hidden balance`;
    default:
      return from === 'somebody' ? `${to} got ${hiddenAmount}` : `${from} sent ${hiddenAmount} to ${to}`;
  }
}
