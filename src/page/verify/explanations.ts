import type { Receipt } from '../../receipts/receipt.ts';
import type { ReceiptFault } from '../../receipts/verify/receipt-error.ts';

/** The clusters that people know by name, by their genesis hashes. */
const CLUSTER_NAMES: Readonly<Record<string, string>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': 'mainnet-beta',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: 'devnet',
  '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY': 'testnet',
};

/** What each fault means to somebody who has not read the format. */
export const FAULT_EXPLANATIONS: Readonly<Record<ReceiptFault, string>> = {
  utf8: 'The text is not what was sent: it is not UTF-8.',
  envelope: 'This is not a whole answer: {"result":…,"slot":…,"receipt":{…}}, as it was sent, to the byte.',
  malformed: 'The receipt is not spelled as a receipt must be: it was changed, cut or formatted.',
  digest: 'The result is not the one that was signed: something in it was changed, or a program formatted it anew.',
  status: 'The receipt is about an answer that was no success.',
  cluster: 'The answer is about another cluster than yours.',
  request: 'The answer is to another request than yours.',
  nonce: 'The answer was made for another nonce than yours.',
  'unknown-key': 'Another key than the one you trust has signed.',
  'weak-key': 'The owner of this key could deny every signature: it proves nothing.',
  path: 'The receipt does not lead to what was signed: its place or its path was changed.',
  signature: 'The signature is of something else: what the receipt says was changed after it was signed.',
  future: 'The receipt was issued in the future.',
  stale: 'The receipt is older than you allow.',
  'old-slot': 'The slot is older than you allow.',
};

const COMMITMENT_EXPLANATIONS: Readonly<Record<Receipt['commitment'], string>> = {
  processed: 'Read from the newest block that a node had; the cluster may still drop it.',
  confirmed: 'Read at a block for which a supermajority of the stake has voted.',
  finalized: 'Read at a block that the cluster can not take back.',
};

export const explainCommitment = (commitment: Receipt['commitment']): string => COMMITMENT_EXPLANATIONS[commitment];

export const explainCluster = (cluster: string): string =>
  `It is about the cluster with this genesis hash${CLUSTER_NAMES[cluster] ? `: ${CLUSTER_NAMES[cluster]}` : ''}.`;

export function explainClaim(claim: Receipt['claim']): string {
  const revision = claim.slice(claim.indexOf('/') + 1);
  return claim.startsWith('exact/')
    ? `The ledger alone decides this result (revision ${revision} of its form): a second finalized one that differs, ` +
        'signed for the same slot, would convict the signer.'
    : `This is what the gateway saw (revision ${revision} of its form): it may have seen something else a moment later.`;
}

export const explainBatch = ({ size, index }: Receipt): string =>
  size === 1
    ? 'The signature is for this statement alone.'
    : `One signature for ${size} statements, of which this is number ${index + 1}; the others stay unknown.`;

/** An instant, and how long ago it was. `nowMs` is Unix time. */
export function explainIssuedAt(issuedAt: number, nowMs: number): string {
  const date = new Date(issuedAt);
  if (Number.isNaN(date.getTime())) return 'Issued in no year that a calendar knows.';
  const seconds = Math.round((nowMs - issuedAt) / 1000);
  const distance = seconds < 0 ? `${-seconds} s ahead of your clock` : `${formatDuration(seconds)} ago`;
  return `Issued ${date.toISOString()}, ${distance}, by the signer's own clock.`;
}

function formatDuration(seconds: number): string {
  for (const [unit, length] of [
    ['days', 86_400],
    ['hours', 3600],
    ['minutes', 60],
  ] as const)
    if (seconds >= 2 * length) return `${Math.floor(seconds / length)} ${unit}`;
  return `${seconds} s`;
}
