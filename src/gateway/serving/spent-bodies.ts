import type { Slot } from '../../shared/domain/slot.ts';
import type { Cache } from '../cache/cache.ts';

/**
 * Removes the bodies that nobody is sent any more, since the lease of their answers covers a newer slot. A body takes more
 * memory than all else of a live account, of which most are read in few slots.
 */
export class SpentBodies {
  readonly #cache: Cache;
  #tip: Slot = -1;
  /** The keys whose bodies were made at the present tip, and those of the one before that weren't spent with it. */
  #current: string[] = [];
  #previous: string[] = [];

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  record(key: string): void {
    this.#current.push(key);
  }

  /**
   * Removes the bodies that are spent since the tip has advanced: most with the next tip, before the garbage collector has
   * moved them to where it seldom looks, the others with the one behind it.
   */
  remove(): void {
    const { tip } = this.#cache;
    if (this.#tip === tip) return;
    this.#tip = tip;
    for (const key of this.#previous) this.#cache.removeSpentBody(key);
    this.#previous = [];
    for (const key of this.#current) if (!this.#cache.removeSpentBody(key)) this.#previous.push(key);
    this.#current = [];
  }
}
