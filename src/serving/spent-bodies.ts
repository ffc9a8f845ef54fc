import type { Cache } from '../cache/cache.ts';
import type { Slot } from '../domain/slot.ts';

/**
 * Removes the bodies that nobody is sent any more, since the lease of their answers covers a newer slot. A body takes more
 * memory than all else of a live account, of which most are read in few slots.
 */
export class SpentBodies {
  readonly #cache: Cache;
  #tip: Slot = -1;
  /** The keys whose bodies were made at the present tip, and at the one before. */
  #current: string[] = [];
  #previous: string[] = [];

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Records a new body, and removes spent ones once the tip has advanced. */
  record(key: string): void {
    if (this.#tip !== this.#cache.tip) this.#removeSpent();
    this.#current.push(key);
  }

  #removeSpent(): void {
    this.#tip = this.#cache.tip;
    for (const key of this.#previous) this.#cache.removeSpentBody(key);
    this.#previous = this.#current;
    this.#current = [];
  }
}
