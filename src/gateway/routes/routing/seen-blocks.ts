import { LRUCache } from 'lru-cache';
import type { Slot } from '../../../shared/domain/slot.ts';

/** Maximum blocks that are remembered: some 2 MB. */
const MAX_BLOCKS = 10_000;

/** The slots of blocks that were read, by their hashes: no node finds a block by its hash. */
export class SeenBlocks {
  readonly #slots = new LRUCache<string, Slot>({ max: MAX_BLOCKS });

  /** Remembers a block that at least two thirds of the stake have voted for. */
  add(blockhash: string, slot: Slot): void {
    this.#slots.set(blockhash, slot);
  }

  /** Returns the slot of a block; undefined if it was not read here. */
  slotOf(blockhash: string): Slot | undefined {
    return this.#slots.get(blockhash);
  }
}
