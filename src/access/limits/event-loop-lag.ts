import type { Clock } from '../../domain/clock.ts';

const SAMPLE_INTERVAL_MS = 100;

/** The number of samples. Their median counts: a single pause, however long, says nothing about the load. */
const SAMPLES = 9;

/** Measures how late the event loop runs its timers, which tells how overloaded it is. */
export class EventLoopLag {
  readonly #clock: Clock;
  #lagsMs: readonly number[] = Array<number>(SAMPLES).fill(0);
  #medianMs = 0;
  #cancelSample: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancelSample = this.#scheduleSample();
  }

  /** The median delay of the last samples, in milliseconds. */
  get medianMs(): number {
    return this.#medianMs;
  }

  close(): void {
    this.#cancelSample();
  }

  #scheduleSample(): () => void {
    const dueMs = this.#clock.monotonic() + SAMPLE_INTERVAL_MS;
    return this.#clock.after(SAMPLE_INTERVAL_MS, () => {
      this.#lagsMs = [...this.#lagsMs.slice(1), this.#clock.monotonic() - dueMs];
      this.#medianMs = this.#lagsMs.toSorted((a, b) => a - b)[(SAMPLES - 1) / 2] ?? 0;
      this.#cancelSample = this.#scheduleSample();
    });
  }
}
