import type { Slot } from '../domain/slot.ts';

/** Two sightings so near each other make a thing hot. */
const MAX_GAP_SLOTS = 8;

/** Tells what is read again and again from what is read once. Remembers the names that were seen last. */
export class HotKeyDetector {
  readonly #maxKeys: number;
  readonly #lastReadTips = new Map<string, Slot>();

  /** `names`: how many are remembered. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Notes a sighting; true when there was one in another slot not long before. */
  recordRead(key: string, tip: Slot): boolean {
    const previous = this.#lastReadTips.get(key);
    this.#lastReadTips.delete(key); // the order of the map is the order of the sightings
    this.#lastReadTips.set(key, tip);
    for (const oldest of this.#lastReadTips.keys()) {
      if (this.#lastReadTips.size <= this.#maxKeys) break;
      this.#lastReadTips.delete(oldest);
    }
    return previous !== undefined && previous < tip && tip - previous <= MAX_GAP_SLOTS;
  }
}
