import type { Clock } from '../../domain/clock.ts';

const SAMPLE_INTERVAL_MS = 100;

/** Looks of which the middle one counts: a single pause, however long, says nothing of how much there is to do. */
const SAMPLES = 9;

/** Watches by how much the event loop comes late, which is how much too much it has to do. */
export class EventLoopLag {
  readonly #clock: Clock;
  #lagsMs: readonly number[] = Array<number>(SAMPLES).fill(0);
  #medianMs = 0;
  #cancelSample: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancelSample = this.#scheduleSample();
  }

  /** How late it has come of late. */
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
