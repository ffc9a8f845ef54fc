import type { Clock } from '../domain/clock.ts';
import type { Slot } from '../domain/slot.ts';

/** The newest slot and for how long it has been so, by a clock that is read a few times a second: a hit needs none. */
export class Tip {
  readonly #clock: Clock;
  readonly #maxStallMs: number;
  #slot: Slot = 0;
  #previous: Slot = 0;
  #advancedMs = Number.NEGATIVE_INFINITY;
  #coarseNowMs: number;
  #isStalled = true;

  /** It is stalled when it stands for longer than `stalledMs`. */
  constructor(clock: Clock, maxStallMs: number) {
    this.#clock = clock;
    this.#maxStallMs = maxStallMs;
    this.#coarseNowMs = clock.monotonic();
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** The slot that was the newest before: some are skipped. */
  get previous(): Slot {
    return this.#previous;
  }

  /** Monotonic milliseconds at which it last moved; infinitely long ago before the first slot. */
  get advancedMs(): number {
    return this.#advancedMs;
  }

  /** Monotonic milliseconds at the last {@link tick}. */
  get coarseNowMs(): number {
    return this.#coarseNowMs;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Slots never go back. */
  advance(slot: Slot): void {
    if (slot <= this.#slot) return;
    this.#previous = this.#slot;
    this.#slot = slot;
    this.#advancedMs = this.#clock.monotonic();
    this.tick();
  }

  tick(): void {
    this.#coarseNowMs = this.#clock.monotonic();
    this.#isStalled = this.#coarseNowMs - this.#advancedMs > this.#maxStallMs;
  }
}
