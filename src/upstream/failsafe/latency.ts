const KEPT = 128;
/** With fewer the percentile says nothing. */
const MIN_KEPT = 16;
/** How many new ones come before the percentile is taken anew. */
const RENEW = 16;
/** Of the mean, one part in so many is the newest answer. */
const SMOOTHING = 16;

/** How long the latest answers took, in milliseconds. */
export class Latency {
  readonly #kept: number[] = [];
  #count = 0;
  #mean: number | undefined;
  #p95: number | undefined;

  record(ms: number): void {
    this.#kept[this.#count++ % KEPT] = ms;
    this.#mean = this.#mean === undefined ? ms : this.#mean + (ms - this.#mean) / SMOOTHING;
    if (this.#count < MIN_KEPT || this.#count % RENEW !== 0) return;
    const sorted = [...this.#kept].sort((a, b) => a - b);
    this.#p95 = sorted[Math.ceil(sorted.length * 0.95) - 1];
  }

  /** The moving mean; undefined before the first. */
  get mean(): number | undefined {
    return this.#mean;
  }

  /** What 95 of 100 don't exceed; undefined while there are too few. */
  get p95(): number | undefined {
    return this.#p95;
  }
}
