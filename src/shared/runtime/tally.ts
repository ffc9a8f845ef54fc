/** The bounds of durations, in seconds, from a quick answer to one that takes too long. */
export const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** What a histogram needs. A value counts in the first bucket whose bound it doesn't exceed, or beyond the last. */
export class Tally {
  readonly bounds: readonly number[];
  readonly counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array<number>(bounds.length + 1).fill(0);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  add({ counts, sum }: { readonly counts: readonly number[]; readonly sum: number }): void {
    for (const [bucket, count] of counts.entries()) this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    this.#sum += sum;
  }
}
