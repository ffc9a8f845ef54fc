import { randomBytes } from 'node:crypto';
import type { Slot } from '../../shared/domain/slot.ts';
import { hashText } from '../../shared/runtime/hash-text.ts';
import { ReadHeat } from './read-heat.ts';

/** The fewest places: about as many readers of one key each may come between two reads of another. */
const MIN_PLACES = 4096;

/** What is left out of the heat that makes a key hot, for rounding. */
const ROUNDING = 1e-6;

/** The half-lives after which a read doesn't count any more: what is left of it is still well above the rounding. */
const MAX_HALF_LIVES = 15;

/** With each of these slots a key that is read all the time, and can't be live, loses its place to another. */
const TURN_SLOTS = 16;

/** Seeds of this process, so that nobody can choose keys that displace another. */
const PLACE_SEED = randomBytes(4).readInt32LE();
const CHECK_SEED = randomBytes(4).readInt32LE();

/**
 * Finds the keys that are read again soon. Most are read once, so a key leaves numbers alone, in a place that its hash
 * chooses. Another key with this place overwrites it unless it was read in this slot or the one before: of two that are read
 * in each slot neither would become hot.
 */
export class HotKeyDetector {
  readonly #halfLifeSlots: number;
  readonly #lastPlace: number;
  /** Another hash of the key that has a place, by which it is known there; 0 for none. */
  readonly #checks: Uint32Array;
  /** As {@link ReadHeat} has them. */
  readonly #ranks: Float64Array;
  readonly #tipsAtLastRead: Float64Array;

  /** Has twice as many places as keys can be kept live, and some. */
  constructor(maxLive: number, halfLifeSlots: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(MIN_PLACES, 2 * maxLive)));
    this.#halfLifeSlots = halfLifeSlots;
    this.#lastPlace = places - 1;
    this.#checks = new Uint32Array(places);
    this.#ranks = new Float64Array(places);
    this.#tipsAtLastRead = new Float64Array(places);
  }

  /** Records a read; returns the heat of the key if it is that of two reads within some slots. */
  recordRead(key: string, tip: Slot, withinSlots: number): ReadHeat | undefined {
    const [place, check] = [this.#placeOf(key), checkOf(key)];
    const heat = this.#heatIn(place, check);
    heat.record(tip);
    if (this.#mayHave(place, check, tip)) this.#put(place, check, heat);
    const halfLives = Math.min(withinSlots / this.#halfLifeSlots, MAX_HALF_LIVES);
    const hot = 1 + 2 ** -halfLives - ROUNDING;
    return heat.at(tip) >= hot ? heat : undefined;
  }

  /** Returns the heat of a key, and forgets it. */
  take(key: string): ReadHeat {
    const [place, check] = [this.#placeOf(key), checkOf(key)];
    const heat = this.#heatIn(place, check);
    if (this.#checks[place] === check) this.#checks[place] = 0;
    return heat;
  }

  /** Remembers the heat of a key that is no longer kept live: it may come back. */
  giveBack(key: string, heat: ReadHeat): void {
    this.#put(this.#placeOf(key), checkOf(key), heat);
  }

  #mayHave(place: number, check: number, tip: Slot): boolean {
    const known = this.#checks[place];
    if (known === check || known === 0) return true;
    return tip - (this.#tipsAtLastRead[place] ?? 0) > 1 || tip % TURN_SLOTS === 0;
  }

  #heatIn(place: number, check: number): ReadHeat {
    const heat = new ReadHeat(this.#halfLifeSlots);
    if (this.#checks[place] === check) heat.absorb(this.#ranks[place] ?? 0, this.#tipsAtLastRead[place] ?? 0);
    return heat;
  }

  #put(place: number, check: number, { rank, tipAtLastRead = 0 }: ReadHeat): void {
    this.#checks[place] = check;
    this.#ranks[place] = rank;
    this.#tipsAtLastRead[place] = tipAtLastRead;
  }

  #placeOf(key: string): number {
    return hashText(key, PLACE_SEED) & this.#lastPlace;
  }
}

const checkOf = (key: string): number => hashText(key, CHECK_SEED) || 1;
