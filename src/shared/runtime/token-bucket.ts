import type { Clock } from '../domain/clock.ts';

/** Rights that come back at a constant rate, up to a number that may be used together. */
export class TokenBucket {
  readonly #clock: Clock;
  #used = 0;
  #updatedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Consumes one of at most `capacity`; returns 0, or the milliseconds until there is one. */
  consume(capacity: number, perSecond: number): number {
    this.#refill(perSecond);
    const missing = this.#used + 1 - capacity;
    if (missing > 0) return Math.ceil((missing / perSecond) * 1000);
    this.#used++;
    return 0;
  }

  refillMs(perSecond: number): number {
    this.#refill(perSecond);
    return Math.ceil((this.#used / perSecond) * 1000);
  }

  #refill(perSecond: number): void {
    const nowMs = this.#clock.monotonic();
    this.#used = Math.max(0, this.#used - ((nowMs - this.#updatedMs) * perSecond) / 1000);
    this.#updatedMs = nowMs;
  }
}
