import type { Receipt } from '../../client/verify/index.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';

const COMMITMENT_EXPLANATIONS: Readonly<Record<Receipt['commitment'], string>> = {
  processed: 'Read from the newest block that a node had; the cluster may still drop it.',
  confirmed: 'Read at a block for which a supermajority of the stake has voted.',
  finalized: 'Read at a block that the cluster cannot revert.',
};

/** Explains a commitment. */
export const explainCommitment = (commitment: Receipt['commitment']): string => COMMITMENT_EXPLANATIONS[commitment];

/** Explains a genesis hash. */
export const explainCluster = (cluster: string): string =>
  `The cluster with this genesis hash${CLUSTER_NAMES[cluster] ? `: ${CLUSTER_NAMES[cluster]}` : ''}.`;

/** Explains a claim. */
export function explainClaim(claim: Receipt['claim']): string {
  const revision = claim.slice(claim.indexOf('/') + 1);
  return claim.startsWith('exact/')
    ? `The ledger alone decides this result (revision ${revision} of its form): a different finalized result, signed ` +
        'for the same slot, would prove that the signer lied.'
    : `The gateway observed this result (revision ${revision} of its form): it may have observed another one a moment later.`;
}

/** Explains how many operators gave the result. */
export function explainAgreed(agreed: string): string {
  const [gave, read] = agreed.split('/');
  if (gave === '1') return 'The word of one operator: no other gave this result at this slot.';
  return `Confirmed by ${gave} of ${read} operators: each gave this result at this slot.`;
}

/** Explains the link of an event to the one before it. */
export const explainPrevious = (previous: string | null | undefined): string =>
  previous == null ? 'The answer is no event of a chain.' : 'The digest of the event before this one.';

/** Explains how many statements share the signature. */
export const explainBatch = ({ size, index }: Receipt): string =>
  size === 1
    ? 'The signature is for this statement alone.'
    : `One signature for ${size} statements, of which this is number ${index + 1}; the others stay secret.`;

/** Explains a time and its distance from now. Both are Unix time in milliseconds. */
export function explainIssuedAt(issuedAt: number, nowMs: number): string {
  const date = new Date(issuedAt);
  if (Number.isNaN(date.getTime())) return 'Issued at a time that no calendar has.';
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
