import type { Clock } from '../../../shared/domain/clock.ts';

const BUCKET_MS = 1000;

interface Bucket {
  readonly number: number;
  count: number;
}

/** Counts events of the last seconds, in one bucket per second. (resilience4j: time-based sliding window) */
export class SlidingWindow {
  readonly #clock: Clock;
  readonly #maxBuckets: number;
  #buckets: Bucket[] = [];

  /** Counts the present second and those before it, `maxBuckets` in all. */
  constructor(clock: Clock, maxBuckets: number) {
    this.#clock = clock;
    this.#maxBuckets = maxBuckets;
  }

  get count(): number {
    this.#dropOld();
    return this.#buckets.reduce((sum, { count }) => sum + count, 0);
  }

  /** Monotonic milliseconds at which the oldest bucket leaves the window; undefined when the window is empty. */
  get oldestEndMs(): number | undefined {
    this.#dropOld();
    const [oldest] = this.#buckets;
    return oldest && (oldest.number + this.#maxBuckets) * BUCKET_MS;
  }

  record(): void {
    const number = this.#presentNumber();
    const last = this.#buckets.at(-1);
    if (last?.number === number) {
      last.count++;
      return;
    }
    this.#dropOld();
    this.#buckets.push({ number, count: 1 });
  }

  clear(): void {
    this.#buckets = [];
  }

  #dropOld(): void {
    const oldestNumber = this.#presentNumber() - this.#maxBuckets + 1;
    this.#buckets = this.#buckets.filter(({ number }) => number >= oldestNumber);
  }

  #presentNumber(): number {
    return Math.floor(this.#clock.monotonic() / BUCKET_MS);
  }
}
