import type { Clock } from '../../domain/clock.ts';

/** Window of public endpoints' limits (solana.com, "Clusters and Public RPC Endpoints"). */
const WINDOW_MS = 10_000;
const BUCKETS = 10;
const BUCKET_MS = WINDOW_MS / BUCKETS;
/** Factors of additive-increase, multiplicative-decrease: applied to the count that was refused, and to a limit used up. */
const DECREASE_FACTOR = 0.9;
const INCREASE_FACTOR = 1.1;
/** Smallest limit that is learned: fewer requests are refused for other reasons, or the pauses alone suffice. */
const MIN_LIMIT = 10;

/**
 * Learns from a node's refusals how many requests of one kind it accepts: no limit until the first refusal, then 10 %
 * less than the count that was refused, and 10 % more for each window that used up the limit without a refusal.
 */
export class AdaptiveRateLimit {
  readonly #clock: Clock;
  /** Requests of the last window, by tenths of it. */
  #buckets: { readonly number: number; count: number }[] = [];
  #limit = Number.POSITIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #limitChangedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests allowed in any 10 s. */
  get limit(): number {
    return this.#limit;
  }

  /** Milliseconds until the next request may be sent; 0 if now. */
  get waitMs(): number {
    const now = this.#clock.monotonic();
    const pause = Math.max(0, this.#pausedUntilMs - now);
    if (this.#requestsInWindow() < this.#limit) return pause;
    const oldest = this.#buckets[0]?.number ?? 0;
    return Math.max(pause, (oldest + BUCKETS + 1) * BUCKET_MS - now);
  }

  /** Records a request. */
  recordRequest(): void {
    this.#raiseLimit();
    const number = Math.floor(this.#clock.monotonic() / BUCKET_MS);
    const last = this.#buckets.at(-1);
    if (last?.number === number) last.count++;
    else this.#buckets.push({ number, count: 1 });
  }

  /** Lowers the limit and pauses: the node refuses more for `pauseMs`. It then starts a new window, and so does this. */
  recordRejection(pauseMs: number): void {
    const now = this.#clock.monotonic();
    const requestsInWindow = this.#requestsInWindow();
    if (requestsInWindow >= MIN_LIMIT)
      this.#limit = Math.max(MIN_LIMIT, Math.floor(Math.min(this.#limit, requestsInWindow) * DECREASE_FACTOR));
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, now + pauseMs);
    this.#limitChangedMs = now;
    this.#buckets = [];
  }

  /** Raises the limit once a window, if that window used it up: else nothing was learned. */
  #raiseLimit(): void {
    const now = this.#clock.monotonic();
    if (now - this.#limitChangedMs < WINDOW_MS || this.#requestsInWindow() < this.#limit - 1) return;
    this.#limit = Math.ceil(this.#limit * INCREASE_FACTOR);
    this.#limitChangedMs = now;
  }

  #requestsInWindow(): number {
    const number = Math.floor(this.#clock.monotonic() / BUCKET_MS);
    this.#buckets = this.#buckets.filter((bucket) => bucket.number >= number - BUCKETS); // of the oldest only a part still counts
    return this.#buckets.reduce((sum, { count }) => sum + count, 0);
  }
}
