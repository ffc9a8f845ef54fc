import { compare } from './compare.ts';
import { round } from './round.ts';
import type { Slot } from './slot.ts';

/** One row of https://solana.com/docs/rpc/http/getrecentprioritizationfees, in micro-lamports per compute unit. */
export interface PrioritizationFee {
  readonly slot: Slot;
  readonly prioritizationFee: bigint;
}

export type PriorityFee = ReturnType<typeof describePriorityFee>;

/**
 * Computes percentiles of samples that were read at `slot`: the multiples of 5, and 0, 25, 50, 75, 95 and 100 by the names of
 * Helius' `getPriorityFeeEstimate`. Without samples, `slotsSampled` is 0. `zeroShare` is from 0 to 1.
 */
export function describePriorityFee(samples: readonly PrioritizationFee[], slot: Slot) {
  const fees = samples.map(({ prioritizationFee }) => prioritizationFee).sort(compare);
  const slots = samples.length === 0 ? [slot] : samples.map((sample) => sample.slot);
  const zeros = fees.filter((fee) => fee === 0n).length;
  /** Returns a percentile by nearest rank: the smallest sample that at least `percent` of the samples don't exceed. */
  const percentile = (percent: number): bigint => fees[Math.max(0, Math.ceil((percent / 100) * fees.length) - 1)] ?? 0n; // the index is inside: 1..length less 1
  return {
    unit: 'microLamportsPerComputeUnit' as const,
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
    method: 'min-per-slot' as const, // a node without a plugin reports the lowest fee of each slot only
  };
}
