import type { Clock } from '../../domain/clock.ts';
import type { Slot } from '../../domain/slot.ts';

/** When slots begin. */
export interface SlotTiming {
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  readonly slotMs: number;
}

/**
 * Turns time into slots. Slots are counted from a fixed origin, so that a cluster that starts again goes on above the
 * slots it had; while it runs it follows the monotonic clock, so that a corrected wall clock moves nothing.
 */
export class SlotClock {
  readonly #clock: Clock;
  readonly #timing: SlotTiming;
  readonly #wallAhead: number;
  #heldMs = 0;
  #pausedAt: number | undefined;

  constructor(clock: Clock, timing: SlotTiming) {
    this.#clock = clock;
    this.#timing = timing;
    this.#wallAhead = clock.now() - clock.monotonic();
  }

  /** The slot whose time it is. */
  now(): Slot {
    return Math.floor((this.#wallMs() - this.#timing.originMs - this.#heldMs) / this.#timing.slotMs);
  }

  /** Unix milliseconds at which a slot begins. */
  startOf(slot: Slot): number {
    return this.#timing.originMs + this.#heldMs + slot * this.#timing.slotMs;
  }

  /** Milliseconds from now to the beginning of a slot; never negative. */
  until(slot: Slot): number {
    return Math.max(0, this.startOf(slot) - this.#wallMs());
  }

  get paused(): boolean {
    return this.#pausedAt !== undefined;
  }

  /** Holds time. */
  pause(): void {
    this.#pausedAt ??= this.#clock.monotonic();
  }

  /** Lets time go on where it was held, without a leap. */
  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#heldMs += this.#clock.monotonic() - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  #wallMs(): number {
    return (this.#pausedAt ?? this.#clock.monotonic()) + this.#wallAhead;
  }
}
