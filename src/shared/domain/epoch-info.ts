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

/**
 * Returns the result of `/epoch`: the members of `getEpochInfo`, the progress from 0 to 1, and the estimated end in Unix
 * seconds. `slotTimeMs` is the cluster's recent average; `nowMs` is Unix time.
 */
export function describeEpoch(info: EpochInfo, slotTimeMs: number, nowMs: number) {
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

type EpochPosition = Pick<EpochInfo, 'epoch' | 'slotIndex' | 'slotsInEpoch'>;

export const epochProgress = ({ slotIndex, slotsInEpoch }: Omit<EpochPosition, 'epoch'>): number =>
  round(slotIndex / slotsInEpoch, 6);

/** Computes the epoch and index of a slot from epoch information that may be some slots older or newer. */
export function epochAt({ epoch, slotIndex, slotsInEpoch, absoluteSlot }: EpochInfo, slot: Slot): EpochPosition {
  const index = slotIndex + slot - absoluteSlot;
  const epochsPassed = Math.floor(index / slotsInEpoch);
  return { epoch: epoch + epochsPassed, slotIndex: index - epochsPassed * slotsInEpoch, slotsInEpoch };
}

/** Slots of the first epoch of a cluster that warms up; each next epoch has twice as many, until one has the full number. */
const FIRST_WARM_UP_SLOTS = 32;

/**
 * Computes the first slot of any epoch from information on the current one. Epochs are equally long, except the first
 * ones of a cluster that warmed up (devnet and testnet did): then the slots before the current epoch are no multiple.
 */
export function firstSlotOfEpoch(
  { epoch, slotIndex, slotsInEpoch, absoluteSlot }: EpochPosition & Pick<EpochInfo, 'absoluteSlot'>,
  wanted: number,
): Slot {
  const current = absoluteSlot - slotIndex;
  const warmUpEpochs = Math.ceil(Math.log2(slotsInEpoch / FIRST_WARM_UP_SLOTS));
  return current !== epoch * slotsInEpoch && wanted < warmUpEpochs
    ? (2 ** wanted - 1) * FIRST_WARM_UP_SLOTS
    : current + (wanted - epoch) * slotsInEpoch;
}
