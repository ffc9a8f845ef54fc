/** How good a choice a node is for a read. */
export interface Candidate {
  /** 0 is best. Those of a higher rank come after all of a lower one. */
  readonly rank: number;
  /** Among equals: how much of the reads it gets. */
  readonly pull: number;
  /** Tells it from the others, in every process. */
  readonly id: string;
  /** The part of its pull that doesn't change. */
  readonly weight: number;
}

/** Orders by rank, and among equals at random, so that each comes first in proportion to its pull. */
export const weightedRandomOrder = <T extends Candidate>(
  candidates: readonly T[],
  random: () => number,
): readonly T[] => sortByRank(candidates, ({ pull }) => -Math.log(1 - random()) / pull);

/**
 * Orders by rank, and among equals always alike for one name: each comes first for a part of all names in proportion to
 * its weight, and a node that leaves or comes changes the order of no others (weighted rendezvous hashing,
 * https://en.wikipedia.org/wiki/Rendezvous_hashing).
 */
export const rendezvousOrder = <T extends Candidate>(candidates: readonly T[], key: string): readonly T[] =>
  sortByRank(candidates, ({ id, weight }) => -Math.log(1 - unitHash(`${id} ${key}`)) / weight);

function sortByRank<T extends Candidate>(candidates: readonly T[], sortKeyOf: (candidate: T) => number): readonly T[] {
  return candidates
    .map((candidate) => ({ candidate, lot: sortKeyOf(candidate) }))
    .sort((a, b) => a.candidate.rank - b.candidate.rank || a.lot - b.lot)
    .map(({ candidate }) => candidate);
}

/** A text's place in [0, 1): FNV-1a, its bits spread once more, as texts that end alike lie near each other otherwise. */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
