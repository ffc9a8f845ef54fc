import type { Slot } from '../domain/slot.ts';

/** Two sightings so near each other make a thing hot. */
const NEAR_SLOTS = 8;

/** Tells what is read again and again from what is read once. Remembers the names that were seen last. */
export class Heat {
  readonly #names: number;
  readonly #seenAt = new Map<string, Slot>();

  /** `names`: how many are remembered. */
  constructor(names: number) {
    this.#names = names;
  }

  /** Notes a sighting; true when there was one in another slot not long before. */
  see(name: string, tip: Slot): boolean {
    const before = this.#seenAt.get(name);
    this.#seenAt.delete(name); // the order of the map is the order of the sightings
    this.#seenAt.set(name, tip);
    for (const oldest of this.#seenAt.keys()) {
      if (this.#seenAt.size <= this.#names) break;
      this.#seenAt.delete(oldest);
    }
    return before !== undefined && before < tip && tip - before <= NEAR_SLOTS;
  }
}
