import type { Clock } from '../domain/clock.ts';
import type { Slot } from '../domain/slot.ts';

/** The newest slot and for how long it has been so, by a clock that is read a few times a second: a hit needs none. */
export class Tip {
  readonly #clock: Clock;
  readonly #stalledMs: number;
  #slot: Slot = 0;
  #before: Slot = 0;
  #movedMs = Number.NEGATIVE_INFINITY;
  #nowMs: number;
  #stalled = true;

  /** It is stalled when it stands for longer than `stalledMs`. */
  constructor(clock: Clock, stalledMs: number) {
    this.#clock = clock;
    this.#stalledMs = stalledMs;
    this.#nowMs = clock.monotonic();
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** The slot that was the newest before: some are skipped. */
  get before(): Slot {
    return this.#before;
  }

  /** Monotonic milliseconds at which it last moved; infinitely long ago before the first slot. */
  get movedMs(): number {
    return this.#movedMs;
  }

  /** Monotonic milliseconds at the last {@link tick}. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get stalled(): boolean {
    return this.#stalled;
  }

  /** Slots never go back. */
  advance(slot: Slot): void {
    if (slot <= this.#slot) return;
    this.#before = this.#slot;
    this.#slot = slot;
    this.#movedMs = this.#clock.monotonic();
    this.tick();
  }

  tick(): void {
    this.#nowMs = this.#clock.monotonic();
    this.#stalled = this.#nowMs - this.#movedMs > this.#stalledMs;
  }
}
