import type { ClusterConsensus } from './cluster-consensus.ts';
import { type EpochInfo, epochAt, epochProgress } from './epoch-info.ts';
import { parseExactJson } from './parse-exact-json.ts';
import type { Performance } from './performance-sample.ts';
import type { PriorityFee } from './priority-fee-estimate.ts';
import type { Slot } from './slot.ts';

/** The age of the newest slot, in milliseconds, from which fees and rates, which move fast, are no longer shown. */
export const STALLED_MS = 15_000;

/** The state of the network at a glance: the result of `/network` and of each frame of the stream. */
export type NetworkSnapshot = ReturnType<typeof describeNetwork>;

interface FrameIdentity {
  /** The number of the snapshot in its stream: a gap shows that some were missed. */
  readonly seq: number;
  readonly stream: string;
  readonly updatedAt: number;
}

/** The newest value of each part. A part that was never read is null, and so are the members computed from it. */
export interface NetworkSnapshotParts {
  readonly slot: Slot;
  readonly epoch: EpochInfo;
  readonly performance: Performance | null;
  readonly priorityFee: PriorityFee | null;
  readonly consensus: ClusterConsensus | null;
  readonly health: 'ok' | 'degraded';
}

export function describeNetwork(
  { slot, epoch: epochInfo, performance, priorityFee, consensus, health }: NetworkSnapshotParts,
  { seq, stream, updatedAt }: FrameIdentity,
) {
  const { epoch, slotIndex, slotsInEpoch } = epochAt(epochInfo, slot);
  const fees = priorityFee !== null && priorityFee.slotsSampled > 0 ? priorityFee : null; // unknown is null, never 0
  return {
    slot,
    blockHeight: epochInfo.blockHeight,
    epoch,
    epochProgress: epochProgress({ slotIndex, slotsInEpoch }),
    slotIndex,
    slotsInEpoch,
    tps: performance?.tps ?? null,
    nonVoteTps: performance?.nonVoteTps ?? null,
    slotTimeMs: performance?.slotTimeMs ?? null,
    priorityFee: fees?.priorityFeeEstimate ?? null, // the medium level, in micro-lamports per compute unit
    priorityFeeLevels: fees?.priorityFeeLevels ?? null,
    transactionCount: epochInfo.transactionCount,
    consensus,
    health,
    seq,
    stream,
    updatedAt,
  };
}

/** Returns the snapshot that a result of `/network` was written from. */
export function parseNetworkSnapshot(result: string): NetworkSnapshot {
  const snapshot = parseExactJson(result) as NetworkSnapshot;
  const { priorityFee, transactionCount } = snapshot;
  return {
    ...snapshot,
    priorityFee: priorityFee === null ? null : BigInt(priorityFee),
    transactionCount: transactionCount === null ? null : BigInt(transactionCount),
  };
}
