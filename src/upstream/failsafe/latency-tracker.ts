const WINDOW_SIZE = 128;
/** With fewer the percentile says nothing. */
const MIN_SAMPLES = 16;
/** How many new ones come before the percentile is taken anew. */
const REFRESH_EVERY = 16;
/** Of the mean, one part in so many is the newest answer. */
const SMOOTHING = 16;

/** How long the latest answers took, in milliseconds. */
export class LatencyTracker {
  readonly #samples: number[] = [];
  #count = 0;
  #meanMs: number | undefined;
  #p95Ms: number | undefined;

  record(ms: number): void {
    this.#samples[this.#count++ % WINDOW_SIZE] = ms;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) / SMOOTHING;
    if (this.#count < MIN_SAMPLES || this.#count % REFRESH_EVERY !== 0) return;
    const sorted = [...this.#samples].sort((a, b) => a - b);
    this.#p95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1];
  }

  /** The moving mean; undefined before the first. */
  get meanMs(): number | undefined {
    return this.#meanMs;
  }

  /** What 95 of 100 don't exceed; undefined while there are too few. */
  get p95Ms(): number | undefined {
    return this.#p95Ms;
  }
}
