import type { Slot } from '../../shared/domain/slot.ts';
import { LeastRead } from '../../shared/runtime/least-read.ts';
import { heatAt, type ReadHeat } from './read-heat.ts';

export interface PlacesOptions<T> {
  readonly maxSize: number;
  /** The slots after which a read counts half. */
  readonly halfLifeSlots: number;
  /** The part of the places that is a caller's own: one with more gives them up to others once none is free. */
  readonly callerShare: number;
  tip(): Slot;
  /** Returns the text that is kept as its key. */
  keyOf(value: T): string;
  /** Returns true for a value that nobody has read for long. */
  isIdle(value: T): boolean;
  /** Returns true for a value that stays until it is idle, although its last subscriber has left. */
  staysUntilIdle(value: T): boolean;
  onPlaced?(value: T): void;
  onEvict(key: string, value: T): void;
}

/** What a value keeps of its place: there may be very many. */
export interface Place extends ReadHeat {
  /** The number of subscriptions of each caller that has some; undefined if none has, as of most places. */
  subscriptions: Map<string, number> | undefined;
  /** The caller whose reads the place counts for; undefined for the gateway itself, and while there are subscribers. */
  reader: string | undefined;
}

interface CallerPlaces<T> {
  /** The one text that all its places name it by. */
  readonly name: string;
  readonly subscribed: Set<T>;
  /** The number of those that its reads hold. */
  read: number;
  readonly leastRead: LeastRead<T>;
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
export class Places<T extends Place> {
  readonly #options: PlacesOptions<T>;
  readonly #share: number;
  readonly #maxSubscribed: number;
  readonly #values = new Map<string, T>();
  readonly #callers = new Map<string, CallerPlaces<T>>();
  /** The callers that hold more than their share: fewer than its inverse. */
  readonly #aboveShare = new Set<CallerPlaces<T>>();
  readonly #leastRead: LeastRead<T>;
  subscribed = 0;

  constructor(options: PlacesOptions<T>) {
    const { maxSize, callerShare } = options;
    this.#options = options;
    this.#share = Math.max(1, Math.floor(maxSize * callerShare));
    this.#maxSubscribed = Math.ceil(maxSize * SUBSCRIBED_PART);
    this.#leastRead = new LeastRead<T>({
      all: () => this.#values.values(),
      has: (value) => value.subscriptions === undefined && this.#values.get(options.keyOf(value)) === value,
      rankOf: ({ rank }) => rank,
    });
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  values(): Iterable<T> {
    return this.#values.values();
  }

  /** Adds the value that `create` returns for a caller's reads; undefined if others are read more. */
  addRead(caller: string | undefined, heat: ReadHeat, create: () => T): T | undefined {
    if (!this.#makeRoomForReader(caller, heat)) return undefined;
    const value = this.#create(create);
    this.#addReader(value, caller);
    this.#options.onPlaced?.(value);
    return value;
  }

  /** {@link unsubscribe} must end it. `create` gives a value that is missing. Undefined if there is no place for it. */
  subscribe(key: string, caller: string, create: () => T): T | undefined {
    const known = this.#values.get(key);
    const isSubscribed = known?.subscriptions !== undefined;
    if (!isSubscribed && this.subscribed >= this.#maxSubscribed && !this.#displaceSubscribed(caller)) return undefined;
    if (!this.#values.has(key) && !this.#makeRoomForSubscriber(caller)) return undefined;
    const value = this.#values.get(key) ?? this.#create(create);
    if (!isSubscribed) {
      this.#removeReader(value);
      this.subscribed++;
    }
    value.subscriptions ??= new Map();
    const count = value.subscriptions.get(caller) ?? 0;
    value.subscriptions.set(caller, count + 1);
    if (count === 0) this.#change(caller, ({ subscribed }) => subscribed.add(value));
    if (value !== known) this.#options.onPlaced?.(value);
    return value;
  }

  /** A place without subscriptions is freed, unless the value is read, too: it is then left to its readers. */
  unsubscribe(key: string, caller: string): void {
    const value = this.#values.get(key);
    const count = value?.subscriptions?.get(caller);
    if (value === undefined || count === undefined) return; // it was displaced
    if (count > 1) {
      value.subscriptions?.set(caller, count - 1);
      return;
    }
    this.#removeSubscriber(value, caller);
    if (value.subscriptions !== undefined) return;
    const isRead = this.#heatOf(value) > 1; // more than once
    this.#addReader(value, caller);
    if (!isRead && !this.#options.staysUntilIdle(value)) this.#evict(value);
  }

  /** Examines the next `samples` entries in turn and evicts the idle ones. */
  evictIdle(samples: number): void {
    const { isIdle, keyOf } = this.#options;
    const values = this.#values.values();
    for (let i = Math.min(samples, this.size); i > 0; i--) {
      const value = values.next().value;
      if (value === undefined) return;
      if (value.subscriptions === undefined && isIdle(value)) this.#evict(value);
      else {
        const key = keyOf(value);
        this.#values.delete(key);
        this.#values.set(key, value); // at the end: the other entries are examined first
      }
    }
  }

  #heatOf(heat: ReadHeat): number {
    return heatAt(heat, this.#options.tip(), this.#options.halfLifeSlots);
  }

  /** Frees a place for a value of this heat if none is free; returns false if the others are read more. */
  #makeRoomForReader(caller: string | undefined, heat: ReadHeat): boolean {
    if (this.#hasRoom()) return true;
    const own = caller === undefined ? undefined : this.#callers.get(caller);
    const isWithinShare = own === undefined || sizeOf(own) < this.#share;
    const aboveShare = this.#leastReadAboveShare(isWithinShare ? undefined : own);
    const least = aboveShare ?? (isWithinShare ? this.#leastRead.find() : undefined);
    if (least === undefined) return false;
    const margin = this.#heatOf(least) + HEAT_MARGIN;
    const needed = isWithinShare && aboveShare !== undefined ? Math.min(margin, STEADY_HEAT) : margin;
    return this.#heatOf(heat) > needed && this.#evict(least);
  }

  /** Frees a place for a subscriber if none is free; returns false if it holds its share. */
  #makeRoomForSubscriber(caller: string): boolean {
    if (this.#hasRoom()) return true;
    if (!this.#maySubscribe(caller)) return false;
    const least = this.#leastReadAboveShare() ?? this.#leastRead.find();
    return least !== undefined && this.#evict(least);
  }

  /** Frees a place of the subscribers of which all have more than their share; returns false if there is none. */
  #displaceSubscribed(caller: string): boolean {
    if (!this.#maySubscribe(caller)) return false;
    const hasTooMany = (holder: string): boolean => (this.#callers.get(holder)?.subscribed.size ?? 0) > this.#share;
    for (const { subscribed } of this.#aboveShare) {
      if (subscribed.size <= this.#share) continue;
      for (const value of subscribed) {
        if ([...(value.subscriptions?.keys() ?? [])].every(hasTooMany)) return this.#evict(value);
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

  /** Returns the least read value of the callers above their share, and of `other`. */
  #leastReadAboveShare(other?: CallerPlaces<T>): T | undefined {
    const callers = other === undefined ? this.#aboveShare : new Set([...this.#aboveShare, other]);
    let least: T | undefined;
    for (const { read, leastRead } of callers) {
      const value = read === 0 ? undefined : leastRead.find(); // it would look at all places to find none
      if (value !== undefined && (least === undefined || value.rank < least.rank)) least = value;
    }
    return least;
  }

  #create(create: () => T): T {
    const value = create();
    this.#values.set(this.#options.keyOf(value), value);
    return value;
  }

  #evict(value: T): true {
    const key = this.#options.keyOf(value);
    const { subscriptions } = value;
    this.#values.delete(key);
    if (subscriptions === undefined) this.#removeReader(value);
    for (const caller of [...(subscriptions?.keys() ?? [])]) this.#removeSubscriber(value, caller);
    this.#options.onEvict(key, value);
    return true;
  }

  #addReader(value: T, caller: string | undefined): void {
    this.#leastRead.add(value);
    if (caller === undefined) return;
    this.#change(caller, (places) => {
      value.reader = places.name;
      places.read++;
      places.leastRead.add(value);
    });
  }

  #removeReader(value: T): void {
    const { reader } = value;
    value.reader = undefined;
    if (reader !== undefined) this.#change(reader, (places) => places.read--);
  }

  #removeSubscriber(value: T, caller: string): void {
    value.subscriptions?.delete(caller);
    if (value.subscriptions?.size === 0) {
      value.subscriptions = undefined;
      this.subscribed--;
    }
    this.#change(caller, ({ subscribed }) => subscribed.delete(value));
  }

  /** Changes the places of a caller, and keeps track of whether it is above its share. */
  #change(caller: string, change: (places: CallerPlaces<T>) => void): void {
    const places = this.#callers.get(caller) ?? this.#newCaller(caller);
    change(places);
    const size = sizeOf(places);
    if (size === 0) this.#callers.delete(caller);
    else this.#callers.set(caller, places);
    if (size > this.#share) this.#aboveShare.add(places);
    else this.#aboveShare.delete(places);
  }

  #newCaller(name: string): CallerPlaces<T> {
    const leastRead = new LeastRead<T>({
      all: () => this.#values.values(),
      has: ({ reader }) => reader === name,
      rankOf: ({ rank }) => rank,
    });
    return { name, subscribed: new Set(), read: 0, leastRead };
  }
}

const sizeOf = ({ subscribed, read }: CallerPlaces<unknown>): number => subscribed.size + read;
