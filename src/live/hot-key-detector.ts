import type { Slot } from '../domain/slot.ts';

/** The longest distance between two reads of a key that make it hot. */
const MAX_GAP_SLOTS = 8;

/** Tells keys that are read often from those that are read once. Remembers the keys that were read last. */
export class HotKeyDetector {
  readonly #maxKeys: number;
  readonly #lastReadTips = new Map<string, Slot>();

  /** Remembers at most `maxKeys` keys. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Records a read; returns true when the key was also read in another slot, at most {@link MAX_GAP_SLOTS} earlier. */
  recordRead(key: string, tip: Slot): boolean {
    const previous = this.#lastReadTips.get(key);
    this.#lastReadTips.delete(key); // the map is ordered by the last read
    this.#lastReadTips.set(key, tip);
    for (const oldest of this.#lastReadTips.keys()) {
      if (this.#lastReadTips.size <= this.#maxKeys) break;
      this.#lastReadTips.delete(oldest);
    }
    return previous !== undefined && previous < tip && tip - previous <= MAX_GAP_SLOTS;
  }
}
