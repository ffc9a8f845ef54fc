import { LRUCache } from 'lru-cache';
import type { Slot } from '../domain/slot.ts';

/** The longest distance between two reads of a key that make it hot. */
const MAX_GAP_SLOTS = 8;

/** Tells keys that are read often from those that are read once. Remembers the keys that were read last. */
export class HotKeyDetector {
  readonly #lastReadTips: LRUCache<string, Slot>;

  /** Remembers at most `maxKeys` keys. */
  constructor(maxKeys: number) {
    this.#lastReadTips = new LRUCache({ max: Math.max(1, maxKeys) }); // 0 would mean no bound
  }

  /** Records a read; returns true when the key was also read in another slot, at most {@link MAX_GAP_SLOTS} earlier. */
  recordRead(key: string, tip: Slot): boolean {
    const previous = this.#lastReadTips.get(key);
    this.#lastReadTips.set(key, tip);
    return previous !== undefined && previous < tip && tip - previous <= MAX_GAP_SLOTS;
  }
}
