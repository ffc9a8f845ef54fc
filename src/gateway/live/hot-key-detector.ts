import { LRUCache } from 'lru-cache';
import type { Slot } from '../../shared/domain/slot.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { ReadHeat } from './read-heat.ts';

/** The fewest keys that are remembered: as many readers of one key each may come between two reads of another. */
const MIN_KEYS = 4096;

/** What is left out of the heat that makes a key hot, for rounding. */
const ROUNDING = 1e-6;

/** The half-lives after which a read doesn't count any more: what is left of it is still well above the rounding. */
const MAX_HALF_LIVES = 15;

export class HotKeyDetector {
  readonly #heats: LRUCache<string, ReadHeat>;
  readonly #halfLifeSlots: number;

  /** Remembers twice as many keys as can be kept live, and some. */
  constructor(maxLive: number, halfLifeSlots: number) {
    this.#halfLifeSlots = halfLifeSlots;
    this.#heats = new LRUCache(atMost(Math.max(MIN_KEYS, 2 * maxLive)));
  }

  /** Records a read; returns the heat of the key if it is that of two reads within some slots. */
  recordRead(key: string, tip: Slot, withinSlots: number): ReadHeat | undefined {
    const heat = this.#heats.get(key);
    if (heat === undefined) {
      const first = new ReadHeat(this.#halfLifeSlots);
      first.record(tip);
      this.#heats.set(ownText(key), first); // it may be a part of a request's text
      return undefined;
    }
    heat.record(tip);
    const halfLives = Math.min(withinSlots / this.#halfLifeSlots, MAX_HALF_LIVES);
    const hot = 1 + 2 ** -halfLives - ROUNDING;
    return heat.at(tip) >= hot ? heat : undefined;
  }

  take(key: string): ReadHeat {
    const heat = this.#heats.get(key) ?? new ReadHeat(this.#halfLifeSlots);
    this.#heats.delete(key);
    return heat;
  }

  /** Remembers the heat of a key that is no longer kept live: it may come back. */
  giveBack(key: string, heat: ReadHeat): void {
    this.#heats.set(key, heat);
  }
}
