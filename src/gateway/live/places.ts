import type { Slot } from '../../shared/domain/slot.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { LeastRead } from './least-read.ts';
import type { ReadHeat } from './read-heat.ts';

export interface PlacesOptions<T> {
  readonly maxSize: number;
  /** The part of the places that is a caller's own: one with more gives them up to others once none is free. */
  readonly callerShare: number;
  tip(): Slot;
  heatOf(value: T): ReadHeat;
  /** Returns true for a value that nobody has read for long. */
  isIdle(value: T): boolean;
  /** Returns true for a value that stays until it is idle, although its last subscriber has left. */
  staysUntilIdle(value: T): boolean;
  /** Called when the first subscriber of a value has come, and when the last one has left. */
  onSubscribed?(value: T, isSubscribed: boolean): void;
  onEvict(key: string, value: T): void;
}

interface Place<T> {
  readonly key: string;
  readonly value: T;
  readonly heat: ReadHeat;
  /** The number of subscriptions of each caller that has some; undefined if none has, as of most places. */
  subscriptions: Map<string, number> | undefined;
  /** The caller whose reads the place counts for; undefined for the gateway itself, and while there are subscribers. */
  reader: string | undefined;
}

interface CallerPlaces<T> {
  /** The one text that all its places name it by. */
  readonly name: string;
  readonly subscribed: Set<Place<T>>;
  readonly read: LeastRead<Place<T>>;
}

/** The number of entries that are examined to make space for one (as Redis' `maxmemory-samples`). */
const EVICTION_SAMPLES = 16;

/** The part of the places that subscribers may hold: the others are left to readers. */
const SUBSCRIBED_PART = 0.75;

/** How much more often than another a value must be read to take its place: else two that are read alike take turns. */
const HEAT_MARGIN = 1;

/** The heat beyond which a value is read steadily, and not just twice in passing. */
const STEADY_HEAT = 2;

/**
 * A bounded number of places, and their holders. As long as some are free, anybody gets one. When none is, it is always
 * the least read place without subscribers that goes, first of callers above their share:
 *
 * - A value that is read more gets it. From a caller above its share a value gets it that is read steadily.
 * - A subscriber within its share gets it, whatever its reads. Subscribers have no more than a part of all places, so that
 *   some are left to readers; then the oldest subscription goes of those that only callers above their share hold.
 *
 * A subscription within its caller's share is never displaced.
 */
export class Places<T> {
  readonly #options: PlacesOptions<T>;
  readonly #share: number;
  readonly #maxSubscribed: number;
  readonly #places = new Map<string, Place<T>>();
  readonly #callers = new Map<string, CallerPlaces<T>>();
  /** The callers that hold more than their share: fewer than its inverse. */
  readonly #aboveShare = new Set<CallerPlaces<T>>();
  readonly #read = new LeastRead<Place<T>>();

  constructor(options: PlacesOptions<T>) {
    const { maxSize, callerShare } = options;
    this.#options = options;
    this.#share = Math.max(1, Math.floor(maxSize * callerShare));
    this.#maxSubscribed = Math.ceil(maxSize * SUBSCRIBED_PART);
  }

  get size(): number {
    return this.#places.size;
  }

  get subscribed(): number {
    return this.#places.size - this.#read.size;
  }

  get(key: string): T | undefined {
    return this.#places.get(key)?.value;
  }

  *values(): Iterable<T> {
    for (const { value } of this.#places.values()) yield value;
  }

  /** Adds the value that `create` returns for a caller's reads; undefined if others are read more. */
  addRead(key: string, caller: string | undefined, heat: ReadHeat, create: () => T): T | undefined {
    if (!this.#makeRoomForReader(caller, heat)) return undefined;
    const place = this.#create(key, create);
    this.#addReader(place, caller);
    return place.value;
  }

  /** {@link unsubscribe} must end it. `create` gives a value that is missing. Undefined if there is no place for it. */
  subscribe(key: string, caller: string, create: () => T): T | undefined {
    const isSubscribed = this.#places.get(key)?.subscriptions !== undefined;
    if (!isSubscribed && this.subscribed >= this.#maxSubscribed && !this.#displaceSubscribed(caller)) return undefined;
    if (!this.#places.has(key) && !this.#makeRoomForSubscriber(caller)) return undefined;
    const place = this.#places.get(key) ?? this.#create(key, create);
    if (!isSubscribed) {
      this.#removeReader(place);
      this.#options.onSubscribed?.(place.value, true);
    }
    place.subscriptions ??= new Map();
    const count = place.subscriptions.get(caller) ?? 0;
    place.subscriptions.set(caller, count + 1);
    if (count === 0) this.#change(caller, ({ subscribed }) => subscribed.add(place));
    return place.value;
  }

  /** A place without subscriptions is freed, unless the value is read, too: it is then left to its readers. */
  unsubscribe(key: string, caller: string): void {
    const place = this.#places.get(key);
    const count = place?.subscriptions?.get(caller);
    if (place === undefined || count === undefined) return; // it was displaced
    if (count > 1) {
      place.subscriptions?.set(caller, count - 1);
      return;
    }
    this.#removeSubscriber(place, caller);
    if (place.subscriptions !== undefined) return;
    this.#options.onSubscribed?.(place.value, false);
    const isRead = place.heat.at(this.#options.tip()) > 1; // more than once
    this.#addReader(place, caller);
    if (!isRead && !this.#options.staysUntilIdle(place.value)) this.#evict(place);
  }

  /** Examines the next `samples` entries in turn and evicts the idle ones. */
  evictIdle(samples: number): void {
    const places = this.#places.values();
    for (let i = Math.min(samples, this.size); i > 0; i--) {
      const place = places.next().value;
      if (place === undefined) return;
      if (place.subscriptions === undefined && this.#options.isIdle(place.value)) this.#evict(place);
      else {
        this.#places.delete(place.key);
        this.#places.set(place.key, place); // at the end: the other entries are examined first
      }
    }
  }

  /** Frees a place for a value of this heat if none is free; returns false if the others are read more. */
  #makeRoomForReader(caller: string | undefined, heat: ReadHeat): boolean {
    if (this.#hasRoom()) return true;
    const own = caller === undefined ? undefined : this.#callers.get(caller);
    const isWithinShare = own === undefined || sizeOf(own) < this.#share;
    const aboveShare = this.#leastReadAboveShare(isWithinShare ? undefined : own);
    const least = aboveShare ?? (isWithinShare ? this.#read.find() : undefined);
    if (least === undefined) return false;
    const tip = this.#options.tip();
    const margin = least.heat.at(tip) + HEAT_MARGIN;
    const needed = isWithinShare && aboveShare !== undefined ? Math.min(margin, STEADY_HEAT) : margin;
    return heat.at(tip) > needed && this.#evict(least);
  }

  /** Frees a place for a subscriber if none is free; returns false if it holds its share. */
  #makeRoomForSubscriber(caller: string): boolean {
    if (this.#hasRoom()) return true;
    if (!this.#maySubscribe(caller)) return false;
    const least = this.#leastReadAboveShare() ?? this.#read.find();
    return least !== undefined && this.#evict(least);
  }

  /** Frees a place of the subscribers of which all have more than their share; returns false if there is none. */
  #displaceSubscribed(caller: string): boolean {
    if (!this.#maySubscribe(caller)) return false;
    const hasTooMany = (holder: string): boolean => (this.#callers.get(holder)?.subscribed.size ?? 0) > this.#share;
    for (const { subscribed } of this.#aboveShare) {
      if (subscribed.size <= this.#share) continue;
      for (const place of subscribed) {
        if ([...(place.subscriptions?.keys() ?? [])].every(hasTooMany)) return this.#evict(place);
      }
    }
    return false;
  }

  #maySubscribe(caller: string): boolean {
    return (this.#callers.get(caller)?.subscribed.size ?? 0) < this.#share;
  }

  #hasRoom(): boolean {
    const { maxSize } = this.#options;
    if (this.size >= maxSize) this.evictIdle(EVICTION_SAMPLES);
    return this.size < maxSize;
  }

  /** Returns the least read place of the callers above their share, and of `other`. */
  #leastReadAboveShare(other?: CallerPlaces<T>): Place<T> | undefined {
    const callers = other === undefined ? this.#aboveShare : new Set([...this.#aboveShare, other]);
    let least: Place<T> | undefined;
    for (const { read } of callers) {
      const place = read.find();
      if (place !== undefined && (least === undefined || place.heat.rank < least.heat.rank)) least = place;
    }
    return least;
  }

  #create(key: string, create: () => T): Place<T> {
    const value = create();
    const heat = this.#options.heatOf(value);
    const place = { key: ownText(key), value, heat, subscriptions: undefined, reader: undefined };
    this.#places.set(place.key, place);
    return place;
  }

  #evict(place: Place<T>): true {
    this.#places.delete(place.key);
    if (place.subscriptions === undefined) this.#removeReader(place);
    for (const caller of [...(place.subscriptions?.keys() ?? [])]) this.#removeSubscriber(place, caller);
    this.#options.onEvict(place.key, place.value);
    return true;
  }

  #addReader(place: Place<T>, caller: string | undefined): void {
    this.#read.add(place);
    if (caller === undefined) return;
    this.#change(caller, ({ name, read }) => {
      place.reader = name;
      read.add(place);
    });
  }

  #removeReader(place: Place<T>): void {
    const { reader } = place;
    place.reader = undefined;
    this.#read.delete(place);
    if (reader !== undefined) this.#change(reader, ({ read }) => read.delete(place));
  }

  #removeSubscriber(place: Place<T>, caller: string): void {
    place.subscriptions?.delete(caller);
    if (place.subscriptions?.size === 0) place.subscriptions = undefined;
    this.#change(caller, ({ subscribed }) => subscribed.delete(place));
  }

  /** Changes the places of a caller, and keeps track of whether it is above its share. */
  #change(caller: string, change: (places: CallerPlaces<T>) => void): void {
    const places = this.#callers.get(caller) ?? { name: caller, subscribed: new Set(), read: new LeastRead() };
    change(places);
    const size = sizeOf(places);
    if (size === 0) this.#callers.delete(caller);
    else this.#callers.set(caller, places);
    if (size > this.#share) this.#aboveShare.add(places);
    else this.#aboveShare.delete(places);
  }
}

const sizeOf = ({ subscribed, read }: CallerPlaces<unknown>): number => subscribed.size + read.size;
