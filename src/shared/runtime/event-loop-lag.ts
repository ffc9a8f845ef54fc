import type { Clock } from '../domain/clock.ts';
import { repeat } from './repeat.ts';

const SAMPLE_INTERVAL_MS = 100;

/** The number of samples. Their median counts: a single pause, however long, says nothing about the load. */
const SAMPLES = 9;

export class EventLoopLag {
  readonly #clock: Clock;
  #lagsMs: readonly number[] = Array<number>(SAMPLES).fill(0);
  #dueMs: number;
  /** The median delay of the last samples, in milliseconds. */
  medianMs = 0;
  readonly close: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#dueMs = clock.monotonic() + SAMPLE_INTERVAL_MS;
    this.close = repeat(clock, SAMPLE_INTERVAL_MS, () => this.#sample());
  }

  #sample(): void {
    const nowMs = this.#clock.monotonic();
    this.#lagsMs = [...this.#lagsMs.slice(1), nowMs - this.#dueMs];
    this.medianMs = this.#lagsMs.toSorted((a, b) => a - b)[(SAMPLES - 1) / 2] ?? 0;
    this.#dueMs = nowMs + SAMPLE_INTERVAL_MS;
  }
}
