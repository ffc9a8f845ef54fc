import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/** For all evicted keys of a commitment together. The slot may be higher than a key needs, and never lower. */
export class MonotonicFloors {
  readonly #slots = new Map<Commitment, Slot>();

  of(commitment: Commitment): Slot | undefined {
    return this.#slots.get(commitment);
  }

  raise(commitment: Commitment, slot: Slot): void {
    if (slot > (this.#slots.get(commitment) ?? -1)) this.#slots.set(commitment, slot);
  }
}
