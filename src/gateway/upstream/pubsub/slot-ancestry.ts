import { LRUCache } from 'lru-cache';
import type { Slot } from '../../../shared/domain/slot.ts';

/** Most parents that are remembered: several times the slots between processed and finalized. */
const MAX_LINKS = 256;

/** Remembers the parents of slots from `slotSubscribe`, to distinguish forks. */
export class SlotAncestry {
  readonly #parents = new LRUCache<Slot, Slot>({ max: MAX_LINKS });

  record(slot: Slot, parent: Slot): void {
    if (parent >= slot) return;
    this.#parents.set(slot, parent);
  }

  parentOf(slot: Slot): Slot | undefined {
    return this.#parents.peek(slot);
  }

  /** Returns true if the chain up to `tip` is known to skip `slot`. */
  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    let at: Slot | undefined = tip;
    while (at !== undefined && at > slot) at = this.#parents.peek(at);
    return at !== undefined && at < slot && tip > slot;
  }
}
