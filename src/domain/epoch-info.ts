import { round } from './round.ts';
import type { Slot } from './slot.ts';

/** A node's epoch information. https://solana.com/docs/rpc/http/getepochinfo */
export interface EpochInfo {
  readonly absoluteSlot: Slot;
  readonly blockHeight: number;
  readonly epoch: number;
  readonly slotIndex: number;
  readonly slotsInEpoch: number;
  /** Transactions since genesis: a u64, which may exceed 2^53. */
  readonly transactionCount: bigint | null;
}

/** The result of `/epoch`: the members of `getEpochInfo`, and three derived ones. */
export interface Epoch {
  readonly epoch: number;
  readonly slotIndex: number;
  readonly slotsInEpoch: number;
  readonly absoluteSlot: Slot;
  readonly blockHeight: number;
  readonly transactionCount: bigint | null;
  /** 0 to 1, six decimal places. */
  readonly epochProgress: number;
  readonly slotsRemaining: number;
  /** The Unix time in seconds, estimated from the average slot time. */
  readonly estimatedEndTime: number;
}

/** Describes an epoch. `slotTimeMs` is the cluster's recent average; `nowMs` is Unix time. */
export function describeEpoch(info: EpochInfo, slotTimeMs: number, nowMs: number): Epoch {
  const { epoch, slotIndex, slotsInEpoch, absoluteSlot, blockHeight, transactionCount } = info;
  const slotsRemaining = slotsInEpoch - slotIndex;
  return {
    epoch,
    slotIndex,
    slotsInEpoch,
    absoluteSlot,
    blockHeight,
    transactionCount,
    epochProgress: epochProgress(info),
    slotsRemaining,
    estimatedEndTime: Math.round((nowMs + slotsRemaining * slotTimeMs) / 1000),
  };
}

export const epochProgress = ({ slotIndex, slotsInEpoch }: Pick<EpochInfo, 'slotIndex' | 'slotsInEpoch'>): number =>
  round(slotIndex / slotsInEpoch, 6);

/** Computes the epoch and index of a slot from epoch information that may be some slots older or newer. */
export function epochAt(
  { epoch, slotIndex, slotsInEpoch, absoluteSlot }: EpochInfo,
  slot: Slot,
): Pick<EpochInfo, 'epoch' | 'slotIndex' | 'slotsInEpoch'> {
  const index = slotIndex + slot - absoluteSlot;
  const epochsPassed = Math.floor(index / slotsInEpoch);
  return { epoch: epoch + epochsPassed, slotIndex: index - epochsPassed * slotsInEpoch, slotsInEpoch };
}
