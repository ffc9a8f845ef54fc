import { LRUCache } from 'lru-cache';
import type { Slot } from '../domain/slot.ts';

/** Tells keys that are read often from those that are read once. Remembers the keys that were read last. */
export class HotKeyDetector {
  readonly #lastReadTips: LRUCache<string, Slot>;
  readonly #maxGapSlots: number;

  /** Remembers at most `maxKeys` keys. Two reads of a key that are at most `maxGapSlots` apart make it hot. */
  constructor(maxKeys: number, maxGapSlots: number) {
    this.#maxGapSlots = maxGapSlots;
    this.#lastReadTips = new LRUCache({ max: Math.max(1, maxKeys) }); // 0 would mean no bound
  }

  /** Records a read; returns true when the key was also read in another slot, not too long before. */
  recordRead(key: string, tip: Slot): boolean {
    const previous = this.#lastReadTips.get(key);
    this.#lastReadTips.set(key, tip);
    return previous !== undefined && previous < tip && tip - previous <= this.#maxGapSlots;
  }
}
