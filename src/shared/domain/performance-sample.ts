import { round } from './round.ts';
import type { Slot } from './slot.ts';

/** One row of https://solana.com/docs/rpc/http/getrecentperformancesamples. */
export interface PerformanceSample {
  readonly slot: Slot;
  readonly numTransactions: bigint;
  readonly numNonVoteTransactions: bigint | null;
  readonly numSlots: number;
  readonly samplePeriodSecs: number;
}

export type Performance = ReturnType<typeof describePerformance>;

/** Transactions per second are those with and without votes. The slot time is null for a sample without slots. */
export function describePerformance(sample: PerformanceSample) {
  const { slot, numTransactions, numNonVoteTransactions, numSlots, samplePeriodSecs } = sample;
  const perSecond = (count: bigint): number => round(Number(count) / samplePeriodSecs, 1);
  return {
    slot,
    numTransactions,
    numNonVoteTransactions,
    numSlots,
    samplePeriodSecs,
    tps: perSecond(numTransactions),
    nonVoteTps: numNonVoteTransactions === null ? null : perSecond(numNonVoteTransactions),
    slotTimeMs: numSlots === 0 ? null : round((samplePeriodSecs * 1000) / numSlots, 1),
  };
}
