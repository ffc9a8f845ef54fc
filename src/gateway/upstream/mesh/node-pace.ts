import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SlotTime, TARGET_SLOT_MS } from '../../../shared/domain/slot-time.ts';

/** Assumed slot time until one is measured: a quarter of the target, which is the longest assumed. */
const INITIAL_SLOT_MS = TARGET_SLOT_MS / 4;

/** The latest slot that a node reported, and the slot time that its accepted slots show. */
export class NodePace {
  readonly #clock: Clock;
  readonly #slotTime: SlotTime;
  #slot: Slot = -1;
  #atMs = Number.NEGATIVE_INFINITY;
  /** The slot time while the node was last near the tip. */
  #msNearTip = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#slotTime = new SlotTime(clock);
  }

  get slot(): Slot {
    return this.#slot;
  }

  get atMs(): number {
    return this.#atMs;
  }

  observe(slot: Slot): void {
    if (slot === this.#slot) return;
    this.#slot = slot;
    this.#atMs = this.#clock.monotonic();
  }

  /** Measures the slot time by the latest slot, which was accepted. */
  measure(isNearTip: boolean): void {
    this.#slotTime.observe(this.#slot);
    if (isNearTip && this.#slotTime.isSettled) this.#msNearTip = this.#slotTime.ms;
  }

  /** The slot time in milliseconds, as measured; the target until then. */
  get slotMs(): number {
    return this.#slotTime.ms;
  }

  /** The slot time by which the node's own advance is explained while no other node is there. */
  get ownMs(): number {
    return Math.min(this.#slotTime.measuredMs ?? INITIAL_SLOT_MS, TARGET_SLOT_MS);
  }

  /**
   * The slot time by which the advance of other nodes is explained. A few measurements only lengthen what is assumed. A
   * node that falls behind does not lengthen what it showed before, since the others advance as they did.
   */
  get witnessedMs(): number {
    const ms = this.#slotTime.isSettled ? this.ownMs : Math.max(this.ownMs, INITIAL_SLOT_MS);
    return Math.min(ms, this.#msNearTip);
  }
}
