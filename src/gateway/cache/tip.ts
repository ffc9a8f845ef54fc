import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/** The newest slot and its age, by a clock that is read a few times a second, so that a hit needs none. */
export class Tip {
  slot: Slot = 0;
  /** The tip before this one. Slots in between were skipped. */
  previous: Slot = 0;
  advancedMs = Number.NEGATIVE_INFINITY;
  /** Whole monotonic milliseconds at the last {@link tick}. */
  coarseNowMs: number;
  /** Whether `maxStallMs` passed without a new slot. */
  isStalled = true;
  readonly #clock: Clock;
  readonly #maxStallMs: number;

  constructor(clock: Clock, maxStallMs: number) {
    this.#clock = clock;
    this.#maxStallMs = maxStallMs;
    this.coarseNowMs = Math.floor(clock.monotonic());
  }

  /** Advances to a newer slot; ignores any other. */
  advance(slot: Slot): void {
    if (slot <= this.slot) return;
    this.previous = this.slot;
    this.slot = slot;
    this.advancedMs = this.#clock.monotonic();
    this.tick();
  }

  tick(): void {
    this.coarseNowMs = Math.floor(this.#clock.monotonic());
    this.isStalled = this.coarseNowMs - this.advancedMs > this.#maxStallMs;
  }
}
