export interface Choosable {
  /** 0 is best. Those of a higher rank come after all of a lower one. */
  readonly rank: number;
  /** Among equals: how much of the reads it gets. */
  readonly pull: number;
}

/** Orders by rank, and among equals at random, so that each comes first in proportion to its pull. */
export function inOrder<T extends Choosable>(candidates: readonly T[], random: () => number): readonly T[] {
  return candidates
    .map((candidate) => ({ candidate, lot: -Math.log(1 - random()) / candidate.pull }))
    .sort((a, b) => a.candidate.rank - b.candidate.rank || a.lot - b.lot)
    .map(({ candidate }) => candidate);
}
