import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';

export interface SlotTiming {
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  readonly slotMs: number;
}

/** Slots count from a fixed origin, so a cluster that restarts continues above. The monotonic clock moves them. */
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

  currentSlot(): Slot {
    return Math.floor((this.#wallMs() - this.#timing.originMs - this.#pausedMs) / this.#timing.slotMs);
  }

  startMsOf(slot: Slot): number {
    return this.#timing.originMs + this.#pausedMs + slot * this.#timing.slotMs;
  }

  /** Returns the milliseconds until a slot begins; never negative. */
  msUntil(slot: Slot): number {
    return Math.max(0, this.startMsOf(slot) - this.#wallMs());
  }

  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  pause(): void {
    this.#pausedAtMs ??= this.#clock.monotonic();
  }

  /** Lets time continue from where it was paused, without a jump. */
  resume(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#pausedMs += this.#clock.monotonic() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
  }

  #wallMs(): number {
    return (this.#pausedAtMs ?? this.#clock.monotonic()) + this.#wallOffsetMs;
  }
}
