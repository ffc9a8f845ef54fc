import { LRUCache } from 'lru-cache';
import type { Slot } from '../domain/slot.ts';
import { ReadHeat } from './read-heat.ts';

/** The fewest keys that are remembered: as many readers of one key each may come between two reads of another. */
const MIN_KEYS = 4096;

/** The heat of two reads in different slots that are one half-life apart: they make a key hot. The rest is for rounding. */
const HOT = 1.5 - 1e-6;

/** Tells keys that are read often from those that are read once. Remembers the heat of the keys that were read last. */
export class HotKeyDetector {
  readonly #heats: LRUCache<string, ReadHeat>;
  readonly #halfLifeSlots: number;

  /** Remembers twice as many keys as can be kept live, and some. */
  constructor(maxLive: number, halfLifeSlots: number) {
    this.#halfLifeSlots = halfLifeSlots;
    // by size, since places that are counted by `max` are all allocated at once
    this.#heats = new LRUCache({ maxSize: Math.max(MIN_KEYS, 2 * maxLive), sizeCalculation: () => 1 });
  }

  /** Records a read; returns the heat of the key if that is hot now. */
  recordRead(key: string, tip: Slot): ReadHeat | undefined {
    const heat = this.#heats.get(key) ?? new ReadHeat(this.#halfLifeSlots);
    heat.record(tip);
    this.#heats.set(key, heat);
    return heat.at(tip) >= HOT ? heat : undefined;
  }

  /** Forgets a key, whose heat is kept with its state from now on; returns the heat. */
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
