import { round } from './round.ts';
import type { Slot } from './slot.ts';

/** One row of https://solana.com/docs/rpc/http/getrecentprioritizationfees, in micro-lamports per compute unit. */
export interface PrioritizationFee {
  readonly slot: Slot;
  readonly prioritizationFee: bigint;
}

/** The percentiles 0, 25, 50, 75, 95 and 100, by the names of Helius' `getPriorityFeeEstimate`. */
export interface PriorityFeeLevels {
  readonly min: bigint;
  readonly low: bigint;
  readonly medium: bigint;
  readonly high: bigint;
  readonly veryHigh: bigint;
  readonly unsafeMax: bigint;
}

/** The result of `/priority-fee`. */
export interface PriorityFee {
  readonly unit: 'microLamportsPerComputeUnit';
  /** The medium level. */
  readonly priorityFeeEstimate: bigint;
  readonly priorityFeeLevels: PriorityFeeLevels;
  /** The percentiles that are multiples of 5, from 0 to 100. */
  readonly percentiles: Readonly<Record<string, bigint>>;
  readonly slotsSampled: number;
  readonly fromSlot: Slot;
  readonly toSlot: Slot;
  /** The share of samples that are 0, from 0 to 1. */
  readonly zeroShare: number;
  /** The kind of sample: a node without a plugin reports the lowest fee of each slot only. */
  readonly method: 'min-per-slot';
}

/** Computes percentiles of samples that were read at `slot`. Without samples, `slotsSampled` is 0. */
export function describePriorityFee(samples: readonly PrioritizationFee[], slot: Slot): PriorityFee {
  const fees = samples.map(({ prioritizationFee }) => prioritizationFee).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const slots = samples.length === 0 ? [slot] : samples.map((sample) => sample.slot);
  const zeros = fees.filter((fee) => fee === 0n).length;
  /** Returns a percentile by nearest rank: the smallest sample that at least `percent` of the samples don't exceed. */
  const percentile = (percent: number): bigint => fees[Math.max(0, Math.ceil((percent / 100) * fees.length) - 1)] ?? 0n; // the index is inside: 1..length less 1
  return {
    unit: 'microLamportsPerComputeUnit',
    priorityFeeEstimate: percentile(50),
    priorityFeeLevels: {
      min: percentile(0),
      low: percentile(25),
      medium: percentile(50),
      high: percentile(75),
      veryHigh: percentile(95),
      unsafeMax: percentile(100),
    },
    percentiles: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [String(i * 5), percentile(i * 5)])),
    slotsSampled: fees.length,
    fromSlot: Math.min(...slots),
    toSlot: Math.max(...slots),
    zeroShare: fees.length === 0 ? 0 : round(zeros / fees.length, 6),
    method: 'min-per-slot',
  };
}
