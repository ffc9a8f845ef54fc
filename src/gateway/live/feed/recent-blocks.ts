import type { Slot } from '../../../shared/domain/slot.ts';

/** The fewest slots that are remembered: those of one read, and of some blocks. */
const MIN_SLOTS = 256;

/** Which of the recent slots have a block: that of a skipped slot is its parent. */
export class RecentBlocks {
  readonly #maxSlots: number;
  /** The block at or before each slot, in the order in which they became known. */
  readonly #blocks = new Map<Slot, Slot>();

  constructor(maxSlots: number) {
    this.#maxSlots = Math.max(maxSlots, MIN_SLOTS);
  }

  /** Records a block, and that all slots between it and its parent were skipped. */
  add(slot: Slot, parentSlot: Slot): void {
    this.#blocks.set(slot, slot);
    const first = Math.max(parentSlot, slot - this.#maxSlots);
    for (let skipped = slot - 1; skipped >= first; skipped--) this.#blocks.set(skipped, parentSlot);
    for (const known of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#maxSlots) break;
      this.#blocks.delete(known);
    }
  }

  /** Returns false for a parent that was skipped, as far as is known, or before another block. */
  allows(slot: Slot, parentSlot: Slot): boolean {
    if ((this.blockAt(parentSlot) ?? parentSlot) !== parentSlot) return false;
    for (let each = Math.max(parentSlot + 1, slot - this.#maxSlots); each < slot; each++)
      if (this.#blocks.get(each) === each) return false;
    return true;
  }

  /** Forgets all: a node that gave some of it has lied. */
  clear(): void {
    this.#blocks.clear();
  }

  /** Returns the slot itself, or its parent if it was skipped; undefined where that is not known. */
  blockAt(slot: Slot): Slot | undefined {
    return this.#blocks.get(slot);
  }
}
