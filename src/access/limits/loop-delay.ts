import type { Clock } from '../../domain/clock.ts';

const TICK_MS = 100;

/** Looks of which the middle one counts: a single pause, however long, says nothing of how much there is to do. */
const LOOKS = 9;

/** Watches by how much the event loop comes late, which is how much too much it has to do. */
export class LoopDelay {
  readonly #clock: Clock;
  #lateMs: readonly number[] = Array<number>(LOOKS).fill(0);
  #medianMs = 0;
  #cancel: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancel = this.#next();
  }

  /** How late it has come of late. */
  get medianMs(): number {
    return this.#medianMs;
  }

  close(): void {
    this.#cancel();
  }

  #next(): () => void {
    const dueMs = this.#clock.monotonic() + TICK_MS;
    return this.#clock.after(TICK_MS, () => {
      this.#lateMs = [...this.#lateMs.slice(1), this.#clock.monotonic() - dueMs];
      this.#medianMs = this.#lateMs.toSorted((a, b) => a - b)[(LOOKS - 1) / 2] ?? 0;
      this.#cancel = this.#next();
    });
  }
}
