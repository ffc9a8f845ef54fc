import type { Slot } from '../../domain/slot.ts';

/** Most parents that are remembered: several times the slots between processed and finalized. */
const MAX_LINKS = 256;

/** Remembers the parents of slots from `slotSubscribe`, to tell forks apart. */
export class SlotAncestry {
  readonly #parents = new Map<Slot, Slot>();

  record(slot: Slot, parent: Slot): void {
    if (parent >= slot) return;
    this.#parents.delete(slot);
    this.#parents.set(slot, parent);
    const [oldest] = this.#parents.keys();
    if (this.#parents.size > MAX_LINKS && oldest !== undefined) this.#parents.delete(oldest);
  }

  /** Tells whether the chain up to `tip` is known to skip `slot`. */
  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    let at: Slot | undefined = tip;
    while (at !== undefined && at > slot) at = this.#parents.get(at);
    return at !== undefined && at < slot && tip > slot;
  }
}
