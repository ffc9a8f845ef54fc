import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry } from '../cache/entry.ts';
import { SingleFlight } from '../cache/single-flight.ts';
import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { hadNoTurn } from '../upstream/rpc/rpc-client.ts';
import {
  checkReachable,
  isSlotNotReached,
  minSlotNotReached,
  type SlotSource,
  servedSlotNotReached,
  waitForSlot,
} from './min-slot.ts';

/** Cache status of an answer: the `X-Cache` header. */
export type CacheStatus = 'HIT' | 'MISS' | 'STALE';

/** Runs work that needs the upstream once admission control lets it; rejects with `overloaded` if it can't. */
export type Admit = <R>(work: () => Promise<R>) => Promise<R>;

/** An answer, and how it was obtained. */
export interface CachedRead<T = Entry> {
  readonly entry: T | Entry;
  readonly cacheStatus: CacheStatus;
}

/** An answer of the upstream that isn't cached yet. */
export interface LoadedAnswer<T> {
  readonly slot: Slot;
  /** True for a page of a snapshot, which may be older than answers served from elsewhere. */
  readonly fromSnapshot?: boolean;
  /** Caches the answer and returns what is served. */
  store(tipAtFetch: Slot): T;
}

/** A read whose answers are cached under one key: their slots never go back. */
export interface CacheableRead<T> {
  readonly key: string;
  readonly meta: AnswerMeta;
  /** Oldest slot that the caller accepts; 0 for any. */
  readonly minSlot: Slot;
  /** Whether it doesn't count as read by anybody: subscribers are sent it. Default: false. */
  readonly isForPush?: boolean;
  /** Whether the answer is never cached. Default: false. */
  readonly bypasses?: boolean;
  /** Whether to wait a moment for an upstream to reach `minSlot`, and then to say that none has. */
  readonly waitsForMinSlot: boolean;
  /**
   * Reads from the upstream at `floor` or later, and from no snapshot that is older than `minSlot`. Undefined for answers
   * that the pipeline keeps current.
   */
  readonly load: ((floor: Slot | undefined, minSlot: Slot) => Promise<LoadedAnswer<T>>) | undefined;
  /** Returns true for an error that is the cluster's own answer, such as "no such account". It is cached briefly. */
  isNegative(error: GatewayError): boolean;
}

export interface ReadThroughOptions extends SlotSource {
  readonly cache: Cache;
  /** Whether a stale answer is served at once and refreshed in the background (RFC 5861: stale-while-revalidate). */
  readonly staleWhileRevalidate: boolean;
  /**
   * Failures that a cached answer replaces (RFC 5861: stale-if-error): any of the upstream, or only that no upstream
   * has reached the slot of an answer already served.
   */
  readonly staleIf: 'upstream-fails' | 'upstream-is-behind';
  /** Admits loads that no request waits for, or that name no other admission. */
  readonly admitOwn: Admit;
}

/** Minimum time between two background refreshes of a stale answer. */
const RETRY_INTERVAL_MS = 400;

/** Life of a cached negative answer, in slots (RFC 2308: negative caching). */
const NEGATIVE_TTL_SLOTS = 2;

/** Life of a lasting refusal, in slots: a minute. */
const LASTING_TTL_SLOTS = 150;

/** Returns true for a refusal that the next slots won't change, and that is dear to find out again. */
export const isLastingRefusal = ({ code }: GatewayError): boolean =>
  code === 'result_too_large' || code === 'holders_unavailable';

const NO_NEW_SLOT = 'no new slot came from the cluster for too long: /health names the upstreams';

/** Loads answers into the cache. Concurrent equal reads share one load; no answer is older than one already served. */
export class ReadThrough<T extends { readonly slot: Slot }> {
  readonly #options: ReadThroughOptions;
  readonly #cache: Cache;
  readonly #flights = new SingleFlight<Arrival<T>>();
  readonly #retriedMs = new WeakMap<Entry, number>();

  constructor(options: ReadThroughOptions) {
    this.#options = options;
    this.#cache = options.cache;
  }

  /** Returns the cached answer if it may be served without waiting, else undefined. Throws a cached negative answer. */
  fromCache(read: CacheableRead<T>): CachedRead<T> | undefined {
    const cached = read.isForPush === true ? this.#cache.peekCurrent(read.key) : this.#cache.get(read.key);
    const isOld = cached?.kind === 'answer' && !this.#cache.isFresh(cached);
    const item = isOld ? (this.#cache.renew(cached) ?? cached) : cached;
    const isLive = read.load === undefined;
    if (item === undefined) {
      if (isLive)
        throw new GatewayError('upstream_unavailable', 'no node has answered this read yet; retry in a moment');
      return undefined;
    }
    const status = this.#cache.statusOf(item);
    if (item.kind === 'refusal' && item.refusal.final) throw this.#counted(item.refusal);
    if (item.kind === 'refusal' && status === 'fresh' && isLastingRefusal(item.refusal))
      throw this.#counted(item.refusal);
    if (item.slot < read.minSlot) {
      if (isLive) throw minSlotNotReached(read.minSlot, item.slot);
      return undefined;
    }
    if (status === 'fresh' && item.kind === 'refusal') throw this.#counted(item.refusal);
    if (status === 'fresh' && item.kind === 'answer') {
      this.#cache.reads.hit++;
      return { entry: item, cacheStatus: 'HIT' };
    }
    if (status === 'stale' && item.kind === 'answer' && this.#options.staleWhileRevalidate) {
      if (item.lease?.state !== 'renewing') this.#retryInBackground(read, item); // it comes to be live, each in its turn
      this.#cache.reads.stale++;
      return { entry: item, cacheStatus: 'STALE' };
    }
    if (status === 'expired' && isLive) throw new GatewayError('stale', NO_NEW_SLOT);
    return undefined;
  }

  /**
   * Loads the answer, or joins a load under way. A new load needs admission; who waits for a slot has no place meanwhile.
   * If it fails, the cached answer is served where the options allow it.
   */
  async fetch(read: CacheableRead<T>, admit: Admit = this.#options.admitOwn): Promise<CachedRead<T>> {
    const load = (): Promise<Arrival<T>> => this.#loadAtMinSlot(read, admit);
    const { reads } = this.#cache;
    const result = this.#flights.has(flightKey(read)) ? 'joined' : read.bypasses === true ? 'bypass' : 'miss';
    try {
      const entry = this.#newest(read, await load()) ?? this.#newest(read, await load());
      if (entry === undefined) throw servedSlotNotReached();
      reads[result]++;
      return { entry, cacheStatus: 'MISS' };
    } catch (thrown) {
      const isNegative = thrown instanceof GatewayError && read.isNegative(thrown);
      if (isNegative) reads[result]++;
      const entry = this.#fallback(read, thrown);
      reads.stale++;
      return { entry, cacheStatus: 'STALE' };
    }
  }

  /** Loads the answer ahead of its next reader. A failure keeps the cached one. */
  async refresh(read: CacheableRead<T>): Promise<void> {
    await this.#loadAdmitted(read, this.#options.admitOwn).catch(() => undefined);
  }

  /** Counts a cached refusal, which is an answer, too. */
  #counted(refusal: GatewayError): GatewayError {
    this.#cache.reads.hit++;
    return refusal;
  }

  #retryInBackground(read: CacheableRead<T>, entry: Entry): void {
    const { coarseNowMs } = this.#cache;
    if (coarseNowMs - (this.#retriedMs.get(entry) ?? Number.NEGATIVE_INFINITY) < RETRY_INTERVAL_MS) return;
    this.#retriedMs.set(entry, coarseNowMs);
    void this.refresh(read);
  }

  /** Loads the answer, and once more after a wait if no upstream had reached the caller's minimum slot. */
  async #loadAtMinSlot(read: CacheableRead<T>, admit: Admit): Promise<Arrival<T>> {
    const { minSlot, waitsForMinSlot, meta, load } = read;
    if (minSlot === 0 || load === undefined || !waitsForMinSlot) return this.#loadAdmitted(read, admit);
    checkReachable(minSlot, meta.commitment, this.#options);
    try {
      return await this.#loadAdmitted(read, admit);
    } catch (thrown) {
      if (!isSlotNotReached(thrown)) throw thrown;
    }
    await waitForSlot(minSlot, meta.commitment, this.#options);
    return this.#loadAdmitted(read, admit).catch((thrown: unknown) => {
      throw isSlotNotReached(thrown) ? minSlotNotReached(minSlot, this.#tip(meta.commitment), thrown) : thrown;
    });
  }

  /** Joins the load under way, or starts one once it is admitted. */
  async #loadAdmitted(read: CacheableRead<T>, admit: Admit): Promise<Arrival<T>> {
    if (this.#flights.has(flightKey(read))) {
      try {
        return await this.#loadOnce(read);
      } catch (thrown) {
        if (!(thrown instanceof GatewayError && hadNoTurn(thrown))) throw thrown;
      }
    }
    return admit(() => this.#loadInPlace(read));
  }

  /**
   * Joins the load under way, or starts one, in a place of its own. If the load of another caller finds no room at the
   * upstream, that says nothing about this one: it then loads alone, so that it fails for no share but its own.
   */
  async #loadInPlace(read: CacheableRead<T>): Promise<Arrival<T>> {
    const joins = this.#flights.has(flightKey(read));
    try {
      return await this.#loadOnce(read);
    } catch (thrown) {
      if (!joins || !(thrown instanceof GatewayError && hadNoTurn(thrown))) throw thrown;
      return this.#load(read);
    }
  }

  /** Joins the load under way, or starts one. */
  #loadOnce(read: CacheableRead<T>): Promise<Arrival<T>> {
    return this.#flights.run(flightKey(read), () => this.#load(read));
  }

  /** Loads the answer, a second time if it was overtaken. Caches a negative answer. */
  async #load(read: CacheableRead<T>): Promise<Arrival<T>> {
    const { key, meta, minSlot, load } = read;
    if (load === undefined) throw new GatewayError('stale', NO_NEW_SLOT);
    try {
      const arrival = (await this.#loadAndStore(read, load)) ?? (await this.#loadAndStore(read, load));
      if (arrival === undefined) throw servedSlotNotReached();
      return arrival;
    } catch (thrown) {
      if (thrown instanceof GatewayError && read.isNegative(thrown)) {
        const slots = isLastingRefusal(thrown) ? LASTING_TTL_SLOTS : NEGATIVE_TTL_SLOTS;
        this.#cache.putRefusal(key, thrown, slots, meta, minSlot);
      }
      throw thrown;
    }
  }

  /** Loads and caches an answer. Undefined if a newer one was served meanwhile that isn't cached any more. */
  async #loadAndStore(
    read: CacheableRead<T>,
    load: NonNullable<CacheableRead<T>['load']>,
  ): Promise<Arrival<T> | undefined> {
    const tipAtFetch = this.#cache.tip;
    const floor = Math.max(this.#floor(read), read.minSlot);
    const loaded = await load(floor > 0 ? floor : undefined, read.minSlot);
    const { slot, fromSnapshot = false } = loaded;
    if (fromSnapshot && slot < read.minSlot) throw minSlotNotReached(read.minSlot, slot);
    if (slot < floor && !fromSnapshot) throw servedSlotNotReached();
    if (slot < this.#floor(read) && !fromSnapshot) {
      const newer = this.#newerEntry(read, slot);
      return newer && { entry: newer, fromSnapshot: newer.meta.fromSnapshot === true };
    }
    return { entry: loaded.store(tipAtFetch), fromSnapshot };
  }

  /** Returns the newer of a loaded answer and the cached one; undefined if a newer one was served that isn't cached. */
  #newest(read: CacheableRead<T>, { entry, fromSnapshot }: Arrival<T>): T | Entry | undefined {
    const isOvertaken = entry.slot < this.#floor(read) && !fromSnapshot;
    return this.#newerEntry(read, entry.slot) ?? (isOvertaken ? undefined : entry);
  }

  /** Returns the cached answer if it is newer than the slot: equal reads may be answered out of order. */
  #newerEntry({ key }: CacheableRead<T>, slot: Slot): Entry | undefined {
    const cached = this.#cache.peek(key);
    return cached?.kind === 'answer' && cached.slot > slot ? cached : undefined;
  }

  /** Returns the cached answer in place of a failure, or throws if the failure or the answer's age forbids that. */
  #fallback(read: CacheableRead<T>, thrown: unknown): Entry {
    const { key, meta, minSlot } = read;
    const needsProgress = this.#options.staleIf === 'upstream-is-behind';
    const isCovered = needsProgress
      ? isSlotNotReached(thrown) && minSlot < this.#floor(read) // else it is the caller who has seen more
      : thrown instanceof GatewayError && !read.isNegative(thrown); // an answer must not hide a defect of the gateway
    if (!isCovered) throw thrown;
    const item = this.#cache.peek(key);
    const cached = item?.kind === 'answer' && item.slot >= minSlot ? item : undefined;
    if (needsProgress) {
      const mayBeRolledBack = meta.commitment === 'processed' && cached?.policy !== 'live';
      if (cached !== undefined && !mayBeRolledBack && this.#cache.statusOf(cached) !== 'expired') return cached;
      throw servedSlotNotReached(thrown);
    }
    if (cached === undefined) throw thrown;
    if (this.#cache.statusOf(cached) !== 'expired') return cached;
    throw new GatewayError(
      'stale',
      'no upstream answers, and the cached answer is too old: /health names the upstreams',
      { cause: thrown },
    );
  }

  #tip(commitment: Commitment): Slot {
    return this.#options.mesh.tip(commitment) ?? 0;
  }

  #floor({ key, meta }: CacheableRead<T>): Slot {
    return this.#cache.floor(key, meta.commitment) ?? 0;
  }
}

/** The outcome of a load: what it stored, or a newer answer that was cached meanwhile. */
interface Arrival<T> {
  readonly entry: T | Entry;
  readonly fromSnapshot: boolean;
}

/** Returns the key of the shared load. Reads with a minimum slot can't join those that accept any slot. */
const flightKey = ({ key, minSlot }: CacheableRead<unknown>): string => (minSlot === 0 ? key : `${key} ${minSlot}`);
