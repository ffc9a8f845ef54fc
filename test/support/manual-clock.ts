import type { Clock } from '../../src/shared/domain/clock.ts';

/** A clock that only a test moves. Timers fire in the order of their time. */
export class ManualClock implements Clock {
  #ms: number;
  #timers: { readonly at: number; readonly work: () => void }[] = [];

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
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves the clock forward and fires the timers that are due, each at its own time. */
  advance(ms: number): void {
    const end = this.#ms + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#ms = Math.max(this.#ms, due.at);
      due.work();
    }
    this.#ms = end;
  }
}
