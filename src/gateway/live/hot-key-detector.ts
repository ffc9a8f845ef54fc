import type { Slot } from '../../shared/domain/slot.ts';
import { hashText } from '../../shared/runtime/hash-text.ts';
import { absorbReads, heatAt, type ReadHeat, recordRead, unread } from './read-heat.ts';

/** The fewest places: about as many readers of one key each may come between two reads of another. */
const MIN_PLACES = 4096;

/** The places that a key can have. Its hash chooses them. */
const BUCKET = 4;

/** What is left out of the heat that makes a key hot, for rounding. */
const ROUNDING = 1e-6;

/** The half-lives after which a read doesn't count any more: what is left of it is still well above the rounding. */
const MAX_HALF_LIVES = 15;

/** With each of these slots a key that is read all the time, and can't be live, loses its place to another. */
const TURN_SLOTS = 16;

/**
 * Finds the keys that are read again soon. Most are read once, so a key leaves numbers alone, in a place of its bucket.
 * Another key of the bucket overwrites those of the key that is read least, if it is read more than that.
 */
export class HotKeyDetector {
  readonly #halfLifeSlots: number;
  readonly #buckets: number;
  /** Nobody outside knows the hashes, so nobody can choose keys that displace another. */
  readonly #bucketSeed: number;
  readonly #checkSeed: number;
  /** Another hash of the key that has a place, by which it is known there; 0 for none. */
  readonly #checks: Uint32Array;
  /** As {@link ReadHeat} has them, where a key has the place: system memory that nobody writes costs nothing. */
  readonly #ranks: Float64Array;
  readonly #tipsAtLastRead: Float64Array;

  /** Has twice as many places as keys can be kept live, and some. `random` gives the seeds of its hashes. */
  constructor(maxLive: number, halfLifeSlots: number, random: () => number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(MIN_PLACES, 2 * maxLive)));
    this.#halfLifeSlots = halfLifeSlots;
    this.#buckets = places / BUCKET;
    this.#bucketSeed = random() * 2 ** 32;
    this.#checkSeed = random() * 2 ** 32;
    this.#checks = new Uint32Array(places);
    this.#ranks = new Float64Array(places);
    this.#tipsAtLastRead = new Float64Array(places);
  }

  /** Records a read; returns the heat of the key if it is that of two reads within some slots. */
  recordRead(key: string, tip: Slot, withinSlots: number): ReadHeat | undefined {
    const check = this.#checkOf(key);
    const place = this.#placeOf(key, check);
    const heat = this.#heatIn(place, check);
    recordRead(heat, tip, this.#halfLifeSlots);
    if (tip % TURN_SLOTS === 0) this.#put(place, check, heat);
    else this.#putIfHotter(place, check, heat);
    const halfLives = Math.min(withinSlots / this.#halfLifeSlots, MAX_HALF_LIVES);
    const hot = 1 + 2 ** -halfLives - ROUNDING;
    return heatAt(heat, tip, this.#halfLifeSlots) >= hot ? heat : undefined;
  }

  remove(key: string): ReadHeat {
    const check = this.#checkOf(key);
    const place = this.#placeOf(key, check);
    const heat = this.#heatIn(place, check);
    if (this.#checks[place] === check) this.#put(place, 0, unread());
    return heat;
  }

  /** Remembers the heat of a key that is no longer kept live: it may come back. */
  giveBack(key: string, heat: ReadHeat): void {
    const check = this.#checkOf(key);
    this.#putIfHotter(this.#placeOf(key, check), check, heat);
  }

  /** Returns the place that a key has; if none, a free one of its bucket or that of the key that is read least. */
  #placeOf(key: string, check: number): number {
    const first = (hashText(key, this.#bucketSeed) % this.#buckets) * BUCKET;
    let least = first;
    for (let place = first; place < first + BUCKET; place++) {
      if (this.#checks[place] === check) return place;
      if (this.#rankIn(place) < this.#rankIn(least)) least = place;
    }
    return least;
  }

  #heatIn(place: number, check: number): ReadHeat {
    const heat = unread();
    if (this.#checks[place] === check)
      absorbReads(heat, { rank: this.#rankIn(place), tipAtLastRead: this.#tipsAtLastRead[place] });
    return heat;
  }

  #putIfHotter(place: number, check: number, heat: ReadHeat): void {
    if (this.#checks[place] === check || this.#rankIn(place) < heat.rank) this.#put(place, check, heat);
  }

  #put(place: number, check: number, { rank, tipAtLastRead = 0 }: ReadHeat): void {
    this.#checks[place] = check;
    this.#ranks[place] = rank;
    this.#tipsAtLastRead[place] = tipAtLastRead;
  }

  #rankIn(place: number): number {
    return this.#checks[place] === 0 ? Number.NEGATIVE_INFINITY : (this.#ranks[place] ?? 0);
  }

  #checkOf(key: string): number {
    return hashText(key, this.#checkSeed) || 1;
  }
}
