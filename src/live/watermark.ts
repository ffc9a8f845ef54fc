import type { Slot } from '../domain/slot.ts';

/** A connection this far behind vouches for nothing new: others are asked. */
const MAX_LAG_SLOTS = 8;

/** What all accounts of one connection at one commitment share: how far everything has been told. */
export class Watermark {
  readonly #tip: () => Slot | undefined;
  #slot: Slot = -1;
  #validatedMs = Number.NEGATIVE_INFINITY;
  #isLost = false;
  #isBehind = false;

  /** `tip` is the newest slot that the whole cluster has shown at this commitment. */
  constructor(tip: () => Slot | undefined) {
    this.#tip = tip;
  }

  /** The newest slot of which everything has been told; -1 before the first. */
  get slot(): Slot {
    return this.#slot;
  }

  get validatedMs(): number {
    return this.#validatedMs;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  get lagSlots(): number {
    return Math.max(0, (this.#tip() ?? this.#slot) - this.#slot);
  }

  /**
   * A beacon has come, and `previous` is the one before. What happened up to that one has been told; what happened at
   * the new one may still be on its way.
   */
  advance(previous: Slot | undefined, nowMs: number): void {
    if (this.#isLost) return;
    this.#validatedMs = nowMs;
    this.#slot = Math.max(this.#slot, previous ?? -1);
    this.checkLag();
  }

  /** The cluster has moved on, perhaps without this connection. */
  checkLag(): void {
    this.#isBehind = this.#slot >= 0 && this.lagSlots > MAX_LAG_SLOTS;
  }

  /** The connection is in doubt: from now on nothing moves. */
  markLost(): void {
    this.#isLost = true;
  }

  /** What came over this connection was false: it proves nothing, not even for the past. */
  invalidate(): void {
    this.#isLost = true;
    this.#validatedMs = Number.NEGATIVE_INFINITY;
  }
}
