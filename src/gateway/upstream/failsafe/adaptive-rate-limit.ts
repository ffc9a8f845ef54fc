import type { Clock } from '../../../shared/domain/clock.ts';
import { MAX_PAUSE_SECONDS } from './rate-limit-pause.ts';
import { SlidingWindow } from './sliding-window.ts';

const WINDOW_MS = 10_000;
/** One more than the window has: of the oldest only a part still counts. */
const WINDOW_BUCKETS = WINDOW_MS / 1000 + 1;
/** Factors of additive-increase, multiplicative-decrease: applied to the count that was refused, and to a limit used up. */
const DECREASE_FACTOR = 0.9;
const INCREASE_FACTOR = 1.1;
/** Time in which the answer to a probe arrives, in milliseconds. */
const PROBE_MS = 1000;
/** Smallest limit that is learned: fewer requests are refused for other reasons, or the pauses alone suffice. */
const MIN_LIMIT = 10;

/**
 * Learns from a node's refusals how many requests of one kind it accepts: no limit until the first refusal, then 10 %
 * less than the count that was refused, and 10 % more for each window that used up the limit without a refusal.
 */
export class AdaptiveRateLimit {
  readonly #clock: Clock;
  readonly #sent: SlidingWindow;
  limit = Number.POSITIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #limitChangedMs = 0;
  /** True if the next request probes whether the longest pause has sufficed: others wait for its answer. */
  #isProbe = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = new SlidingWindow(clock, WINDOW_BUCKETS);
  }

  get waitMs(): number {
    const now = this.#clock.monotonic();
    const pause = Math.max(0, this.#pausedUntilMs - now);
    if (this.#sent.count < this.limit) return pause;
    return Math.max(pause, (this.#sent.oldestEndMs ?? now) - now);
  }

  recordRequest(): void {
    if (this.#isProbe) this.#pausedUntilMs = this.#clock.monotonic() + PROBE_MS;
    this.#isProbe = false;
    this.#raiseLimit();
    this.#sent.record();
  }

  /** Lowers the limit and pauses: the node refuses more for `pauseMs`. It then starts a new window, and so does this. */
  recordRejection(pauseMs: number): void {
    const now = this.#clock.monotonic();
    const requestsInWindow = this.#sent.count;
    if (requestsInWindow >= MIN_LIMIT)
      this.limit = Math.max(MIN_LIMIT, Math.floor(Math.min(this.limit, requestsInWindow) * DECREASE_FACTOR));
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, now + pauseMs);
    this.#isProbe = pauseMs >= MAX_PAUSE_SECONDS * 1000;
    this.#limitChangedMs = now;
    this.#sent.clear();
  }

  /** Raises the limit once a window, if that window used it up: else nothing was learned. */
  #raiseLimit(): void {
    const now = this.#clock.monotonic();
    if (now - this.#limitChangedMs < WINDOW_MS || this.#sent.count < this.limit - 1) return;
    this.limit = Math.ceil(this.limit * INCREASE_FACTOR);
    this.#limitChangedMs = now;
  }
}
