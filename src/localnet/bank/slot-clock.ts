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
  readonly #wallOffsetMs: number;
  #pausedMs = 0;
  #pausedAtMs: number | undefined;

  constructor(clock: Clock, timing: SlotTiming) {
    this.#clock = clock;
    this.#timing = timing;
    this.#wallOffsetMs = clock.now() - clock.monotonic();
  }

  /** The slot whose time it is. */
  currentSlot(): Slot {
    return Math.floor((this.#wallMs() - this.#timing.originMs - this.#pausedMs) / this.#timing.slotMs);
  }

  /** Unix milliseconds at which a slot begins. */
  startMsOf(slot: Slot): number {
    return this.#timing.originMs + this.#pausedMs + slot * this.#timing.slotMs;
  }

  /** Milliseconds from now to the beginning of a slot; never negative. */
  msUntil(slot: Slot): number {
    return Math.max(0, this.startMsOf(slot) - this.#wallMs());
  }

  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  /** Holds time. */
  pause(): void {
    this.#pausedAtMs ??= this.#clock.monotonic();
  }

  /** Lets time go on where it was held, without a leap. */
  resume(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#pausedMs += this.#clock.monotonic() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
  }

  #wallMs(): number {
    return (this.#pausedAtMs ?? this.#clock.monotonic()) + this.#wallOffsetMs;
  }
}
