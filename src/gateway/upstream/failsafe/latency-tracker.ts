const WINDOW_SIZE = 128;
const MIN_SAMPLES = 16;
const REFRESH_EVERY = 16;
/** Divisor of the newest sample's weight in the moving mean. */
const SMOOTHING = 16;

/** Tracks the mean and the 95th percentile of the latest response times, in milliseconds. */
export class LatencyTracker {
  readonly #samples: number[] = [];
  #count = 0;
  meanMs: number | undefined;
  /** 95th percentile; undefined with too few samples. */
  p95Ms: number | undefined;

  record(ms: number): void {
    this.#samples[this.#count++ % WINDOW_SIZE] = ms;
    this.meanMs = this.meanMs === undefined ? ms : this.meanMs + (ms - this.meanMs) / SMOOTHING;
    if (this.#count < MIN_SAMPLES || this.#count % REFRESH_EVERY !== 0) return;
    const sorted = [...this.#samples].sort((a, b) => a - b);
    this.p95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1];
  }
}
