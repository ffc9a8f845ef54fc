import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';

/**
 * Below what slot no answer may go, for the keys that are not cached any more: one number per commitment stands for
 * all of them. It is more than some of them need, and never less.
 */
export class MonotonicFloors {
  readonly #slots = new Map<Commitment, Slot>();

  of(commitment: Commitment): Slot | undefined {
    return this.#slots.get(commitment);
  }

  raise(commitment: Commitment, slot: Slot): void {
    if (slot > (this.#slots.get(commitment) ?? -1)) this.#slots.set(commitment, slot);
  }
}
