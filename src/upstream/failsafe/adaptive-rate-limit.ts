import type { Clock } from '../../domain/clock.ts';

/** Limits of public endpoints are counted over 10 s. */
const WINDOW_MS = 10_000;
const BUCKETS = 10;
const BUCKET_MS = WINDOW_MS / BUCKETS;
/** What is left of the number that was too much, and what a window at the limit adds to it. */
const DECREASE_FACTOR = 0.9;
const INCREASE_FACTOR = 1.1;
/** So few in a window are no measure: they are refused for another reason, or the pauses alone will do. */
const MIN_LIMIT = 10;

/**
 * How many requests of one kind a node takes, learned from its refusals: no limit until the first, then a little less
 * than what was too much, and a little more again for each window that used it up without a refusal.
 */
export class AdaptiveRateLimit {
  readonly #clock: Clock;
  /** Requests by tenth of a window. */
  #sent: { readonly number: number; count: number }[] = [];
  #limit = Number.POSITIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #limitChangedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests in any 10 s. */
  get limit(): number {
    return this.#limit;
  }

  /** For how long the node is to be left alone; 0 if not at all. */
  get waitMs(): number {
    const now = this.#clock.monotonic();
    const pause = Math.max(0, this.#pausedUntilMs - now);
    if (this.#requestsInWindow() < this.#limit) return pause;
    const oldest = this.#sent[0]?.number ?? 0;
    return Math.max(pause, (oldest + BUCKETS + 1) * BUCKET_MS - now);
  }

  sent(): void {
    this.#raiseLimit();
    const number = Math.floor(this.#clock.monotonic() / BUCKET_MS);
    const last = this.#sent.at(-1);
    if (last?.number === number) last.count++;
    else this.#sent.push({ number, count: 1 });
  }

  /** The node won't have more for `pauseMs`, as it says or as is usual. Then it counts anew, and so do we. */
  refused(pauseMs: number): void {
    const now = this.#clock.monotonic();
    const requestsInWindow = this.#requestsInWindow();
    if (requestsInWindow >= MIN_LIMIT)
      this.#limit = Math.max(MIN_LIMIT, Math.floor(Math.min(this.#limit, requestsInWindow) * DECREASE_FACTOR));
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, now + pauseMs);
    this.#limitChangedMs = now;
    this.#sent = [];
  }

  /** Once a window, and only where the limit is felt: otherwise nothing is learned about it. */
  #raiseLimit(): void {
    const now = this.#clock.monotonic();
    if (now - this.#limitChangedMs < WINDOW_MS || this.#requestsInWindow() < this.#limit - 1) return;
    this.#limit = Math.ceil(this.#limit * INCREASE_FACTOR);
    this.#limitChangedMs = now;
  }

  #requestsInWindow(): number {
    const number = Math.floor(this.#clock.monotonic() / BUCKET_MS);
    this.#sent = this.#sent.filter((bucket) => bucket.number >= number - BUCKETS); // the oldest only in part
    return this.#sent.reduce((sum, { count }) => sum + count, 0);
  }
}
