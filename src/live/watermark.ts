import type { Slot } from '../domain/slot.ts';

/** A connection this far behind vouches for nothing new: others are asked. */
const NEAR_SLOTS = 8;

/** What all accounts of one connection at one commitment share: how far everything has been told. */
export class Watermark {
  readonly #tip: () => Slot | undefined;
  #slot: Slot = -1;
  #provenMs = Number.NEGATIVE_INFINITY;
  #lost = false;
  #behind = false;

  /** `tip` is the newest slot that the whole cluster has shown at this commitment. */
  constructor(tip: () => Slot | undefined) {
    this.#tip = tip;
  }

  /** The newest slot of which everything has been told; -1 before the first. */
  get slot(): Slot {
    return this.#slot;
  }

  get provenMs(): number {
    return this.#provenMs;
  }

  get lost(): boolean {
    return this.#lost;
  }

  get behind(): boolean {
    return this.#behind;
  }

  get behindSlots(): number {
    return Math.max(0, (this.#tip() ?? this.#slot) - this.#slot);
  }

  /**
   * A beacon has come, and `previous` is the one before. What happened up to that one has been told; what happened at
   * the new one may still be on its way.
   */
  move(previous: Slot | undefined, nowMs: number): void {
    if (this.#lost) return;
    this.#provenMs = nowMs;
    this.#slot = Math.max(this.#slot, previous ?? -1);
    this.compare();
  }

  /** The cluster has moved on, perhaps without this connection. */
  compare(): void {
    this.#behind = this.#slot >= 0 && this.behindSlots > NEAR_SLOTS;
  }

  /** The connection is in doubt: from now on nothing moves. */
  lose(): void {
    this.#lost = true;
  }

  /** What came over this connection was false: it proves nothing, not even for the past. */
  disown(): void {
    this.#lost = true;
    this.#provenMs = Number.NEGATIVE_INFINITY;
  }
}
