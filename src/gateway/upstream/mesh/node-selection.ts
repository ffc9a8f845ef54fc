import { hashText } from '../../../shared/runtime/hash-text.ts';

export interface Candidate {
  /** Rank, 0 the best. Nodes of a higher rank come after all of a lower one. */
  readonly rank: number;
  /** Share of the calls among nodes of equal rank, from its weight and latency. */
  readonly currentWeight: number;
  /** Name that is the same in every process. */
  readonly id: string;
  readonly weight: number;
}

/**
 * Orders by rank, and among equals at random, so that each comes first in proportion to its current weight (Efraimidis
 * and Spirakis, "Weighted random sampling with a reservoir").
 */
export const weightedRandomOrder = <T extends Candidate>(
  candidates: readonly T[],
  random: () => number,
): readonly T[] => sortByRank(candidates, ({ currentWeight }) => -Math.log(1 - random()) / currentWeight);

/**
 * Orders by rank, and among equals always alike for one key: each comes first for a share of all keys in proportion to
 * its weight, and adding or removing a node doesn't change the order of the others (weighted rendezvous hashing,
 * https://en.wikipedia.org/wiki/Rendezvous_hashing).
 */
export const rendezvousOrder = <T extends Candidate>(candidates: readonly T[], key: string): readonly T[] =>
  sortByRank(candidates, ({ id, weight }) => -Math.log(1 - hashText(`${id} ${key}`) / 2 ** 32) / weight);

function sortByRank<T extends Candidate>(candidates: readonly T[], sortKeyOf: (candidate: T) => number): readonly T[] {
  return candidates
    .map((candidate) => ({ candidate, sortKey: sortKeyOf(candidate) }))
    .sort((a, b) => a.candidate.rank - b.candidate.rank || a.sortKey - b.sortKey)
    .map(({ candidate }) => candidate);
}
