import type { Clock } from '../../src/shared/domain/clock.ts';

/** A clock that only a test moves. Timers fire in the order of their time. */
export class ManualClock implements Clock {
  #ms: number;
  /** By time, then in the order in which they were set. */
  readonly #timers: { readonly at: number; readonly work: () => void }[] = [];

  constructor(startMs = 1_700_000_000_000) {
    this.#ms = startMs;
  }

  now(): number {
    return this.#ms;
  }

  monotonic(): number {
    return this.#ms;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#ms + Math.max(0, ms), work: callback };
    this.#timers.splice(this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  /** Moves the clock forward and fires the timers that are due, each at its own time. */
  advance(ms: number): void {
    const end = this.#ms + ms;
    for (let [next] = this.#timers; next !== undefined && next.at <= end; [next] = this.#timers) {
      this.#timers.shift();
      this.#ms = Math.max(this.#ms, next.at);
      next.work();
    }
    this.#ms = end;
  }
}
