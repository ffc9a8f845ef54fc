import { LRUCache } from 'lru-cache';
import type { Slot } from '../../../shared/domain/slot.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';

/** Maximum blocks that are remembered: some 2 MB. */
const MAX_BLOCKS = 10_000;

export class SeenBlocks {
  readonly #slots = new LRUCache<string, Slot>(atMost(MAX_BLOCKS));

  /** Remembers a block that at least two thirds of the stake have voted for. */
  add(blockhash: string, slot: Slot): void {
    this.#slots.set(blockhash, slot);
  }

  /** Forgets all blocks. */
  clear(): void {
    this.#slots.clear();
  }

  slotOf(blockhash: string): Slot | undefined {
    return this.#slots.get(blockhash);
  }
}
