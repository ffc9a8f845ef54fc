import { LRUCache } from 'lru-cache';
import type { Slot } from '../../../shared/domain/slot.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';

/** Maximum blocks that are remembered: some 2 MB. */
const MAX_BLOCKS = 10_000;

const createSlots = () => new LRUCache<string, Slot>(atMost(MAX_BLOCKS));

export class SeenBlocks {
  #slots = createSlots();

  /** Returns what remembers the block of a read that begins now, which at least two thirds of the stake have voted for. */
  beginRead(): (blockhash: string, slot: Slot) => void {
    const slots = this.#slots;
    return (blockhash, slot) => slots.set(blockhash, slot);
  }

  /** Forgets all blocks, those too that are being read. */
  clear(): void {
    this.#slots = createSlots();
  }

  slotOf(blockhash: string): Slot | undefined {
    return this.#slots.get(blockhash);
  }
}
