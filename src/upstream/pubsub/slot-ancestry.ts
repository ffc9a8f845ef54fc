import type { Slot } from '../../domain/slot.ts';

/** So many links are remembered: several times as many slots as lie between processed and finalized. */
const MAX_LINKS = 256;

/** Which slot was built on which, as a node tells when it begins one: tells forks from one another. */
export class SlotAncestry {
  readonly #parents = new Map<Slot, Slot>();

  record(slot: Slot, parent: Slot): void {
    if (parent >= slot) return;
    this.#parents.delete(slot);
    this.#parents.set(slot, parent);
    const [oldest] = this.#parents.keys();
    if (this.#parents.size > MAX_LINKS && oldest !== undefined) this.#parents.delete(oldest);
  }

  /** True when the chain that leads to `tip` is known to have passed `slot` by. */
  isOnAnotherFork(slot: Slot, tip: Slot): boolean {
    let at: Slot | undefined = tip;
    while (at !== undefined && at > slot) at = this.#parents.get(at);
    return at !== undefined && at < slot && tip > slot;
  }
}
