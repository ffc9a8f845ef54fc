import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/** The newest slot and its age, by a clock that is read a few times a second, so that a hit needs none. */
export class Tip {
  readonly #clock: Clock;
  readonly #maxStallMs: number;
  #slot: Slot = 0;
  #previous: Slot = 0;
  #advancedMs = Number.NEGATIVE_INFINITY;
  #coarseNowMs: number;
  #isStalled = true;

  /** Counts as stalled after `maxStallMs` without a new slot. */
  constructor(clock: Clock, maxStallMs: number) {
    this.#clock = clock;
    this.#maxStallMs = maxStallMs;
    this.#coarseNowMs = Math.floor(clock.monotonic());
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** The tip before this one. Slots in between were skipped. */
  get previous(): Slot {
    return this.#previous;
  }

  get advancedMs(): number {
    return this.#advancedMs;
  }

  /** Whole monotonic milliseconds at the last {@link tick}. */
  get coarseNowMs(): number {
    return this.#coarseNowMs;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Advances to a newer slot; ignores any other. */
  advance(slot: Slot): void {
    if (slot <= this.#slot) return;
    this.#previous = this.#slot;
    this.#slot = slot;
    this.#advancedMs = this.#clock.monotonic();
    this.tick();
  }

  tick(): void {
    this.#coarseNowMs = Math.floor(this.#clock.monotonic());
    this.#isStalled = this.#coarseNowMs - this.#advancedMs > this.#maxStallMs;
  }
}
