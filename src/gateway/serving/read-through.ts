import { agreedAt } from '../../shared/domain/agreement.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, CacheItem, Entry, TimedPolicy } from '../cache/entry.ts';
import { SingleFlight } from '../cache/single-flight.ts';
import { hadNoTurn } from '../upstream/rpc/rpc-client.ts';
import {
  checkReachable,
  isSlotNotReached,
  minSlotNotReached,
  type SlotSource,
  servedSlotNotReached,
  waitForLiveSlot,
  waitForSlot,
} from './min-slot.ts';

export type CacheStatus = 'HIT' | 'MISS' | 'STALE';

/** Runs work that needs the upstream once admission control lets it; rejects with `overloaded` if it can't. */
export type Admit = <R>(work: () => Promise<R>) => Promise<R>;

export interface CachedRead<T = Entry> {
  readonly entry: T | Entry;
  readonly cacheStatus: CacheStatus;
}

/** An answer of the upstream that isn't cached yet. */
export interface LoadedAnswer<T> {
  readonly slot: Slot;
  /** True for a page of a snapshot, which may be older than answers served from elsewhere. */
  readonly fromSnapshot?: boolean | undefined;
  store(tipAtFetch: Slot): T;
}

/** A read whose answers are cached under one key: their slots never go back. */
export interface CacheableRead<T> {
  readonly key: string;
  readonly meta: AnswerMeta;
  /** Oldest slot that the caller accepts; 0 for any. */
  readonly minSlot: Slot;
  /** Operators that must give the answer. Default: 1. */
  readonly agree?: number;
  /** Whether it doesn't count as read by anybody: subscribers are sent it. Default: false. */
  readonly isForPush?: boolean;
  /** Whether the answer is never cached. Default: false. */
  readonly bypasses?: boolean;
  /** Whether to wait a moment for an upstream to reach `minSlot`, and then to say that none has. */
  readonly waitsForMinSlot: boolean;
  /** At `floor` or later, from no snapshot older than `minSlot`. Undefined for what the pipeline keeps current. */
  readonly load: ((floor: Slot | undefined, minSlot: Slot) => Promise<LoadedAnswer<T>>) | undefined;
  /** Returns true for an error that is the cluster's own answer, such as "no such account". It is cached briefly. */
  isNegative(error: GatewayError): boolean;
}

export interface ReadThroughOptions extends SlotSource {
  readonly cache: Cache;
  /** Whether a stale answer is served while it is refreshed in the background (RFC 5861: stale-while-revalidate). */
  readonly staleWhileRevalidate: boolean;
  /** RFC 5861, stale-if-error: any failure of the upstream, or only one to reach the slot of an earlier answer. */
  readonly staleIf: 'upstream-fails' | 'upstream-is-behind';
  /** Admits loads that no request waits for, or that name no other admission. */
  readonly admitOwn: Admit;
}

/** Minimum time between two background refreshes of a stale answer. */
const RETRY_INTERVAL_MS = 400;

/** Life of a cached negative answer (RFC 2308: negative caching): what is missing may be there with any slot. */
const NEGATIVE_POLICY: TimedPolicy = { slots: 2 };

/** Life of a lasting refusal: it spares the nodes a read that is dear. */
const LASTING_POLICY: TimedPolicy = { ms: 60_000 };

/** Returns true for a refusal that the next slots won't change, and that is dear to find out again. */
export const isLastingRefusal = ({ code }: GatewayError): boolean =>
  code === 'result_too_large' || code === 'holders_unavailable';

/** How often an answer is loaded that newer ones overtake. */
const LOADS = 2;

/** What counts a read that the cache didn't answer. */
type Counter = 'miss' | 'joined' | 'bypass';

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
    if (item.slot < read.minSlot || !hasAgreement(item, read)) return undefined;
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

  /** A new load needs admission, but not while it waits for a slot. After a failure the cached answer may be served. */
  fetch(read: CacheableRead<T>, admit: Admit = this.#options.admitOwn): Promise<CachedRead<T>> {
    if (read.load === undefined && read.minSlot > 0) return this.#awaitLive(read);
    const joins = this.#flights.has(flightKey(read));
    return this.#fetchNewest(read, admit, joins ? 'joined' : read.bypasses === true ? 'bypass' : 'miss', LOADS);
  }

  #fetchNewest(read: CacheableRead<T>, admit: Admit, how: Counter, loads: number): Promise<CachedRead<T>> {
    return this.#loadAtMinSlot(read, admit).then(
      (arrival) => {
        const entry = this.#newest(read, arrival);
        if (entry !== undefined && 'kind' in entry && !hasAgreement(entry, read)) throw noAgreement(read.agree);
        if (entry === undefined && loads > 1) return this.#fetchNewest(read, admit, how, loads - 1);
        if (entry === undefined) return this.#insteadOf(servedSlotNotReached(), read, how);
        this.#cache.reads[how]++;
        return { entry, cacheStatus: 'MISS' };
      },
      (thrown: unknown) => this.#insteadOf(thrown, read, how),
    );
  }

  /** Loads the answer ahead of its next reader. A failure keeps the cached one. */
  refresh(read: CacheableRead<T>): Promise<unknown> {
    return this.#loadAdmitted(read, this.#options.admitOwn).catch(() => undefined);
  }

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

  /** Waits until the pipeline has published an answer of the caller's minimum slot: a frame may follow its slot later. */
  async #awaitLive(read: CacheableRead<T>): Promise<CachedRead<T>> {
    const { minSlot, meta } = read;
    checkReachable(minSlot, meta.commitment, this.#options);
    const newestSlot = (): Slot => this.#cache.peek(read.key)?.slot ?? 0;
    await waitForLiveSlot(minSlot, newestSlot, this.#options.clock);
    const served = this.fromCache(read);
    if (served === undefined) throw minSlotNotReached(minSlot, newestSlot());
    return served;
  }

  #loadAtMinSlot(read: CacheableRead<T>, admit: Admit): Promise<Arrival<T>> {
    const isAnySlot = read.minSlot === 0 || read.load === undefined || !read.waitsForMinSlot;
    return isAnySlot ? this.#loadAdmitted(read, admit) : this.#loadAwaited(read, admit);
  }

  /** Loads the answer, and once more after a wait if no upstream had reached the caller's minimum slot. */
  async #loadAwaited(read: CacheableRead<T>, admit: Admit): Promise<Arrival<T>> {
    const { minSlot, meta } = read;
    checkReachable(minSlot, meta.commitment, this.#options);
    try {
      return await this.#loadAdmitted(read, admit);
    } catch (thrown) {
      if (!isSlotNotReached(thrown)) throw thrown;
    }
    await waitForSlot(minSlot, meta.commitment, this.#options);
    return this.#loadAdmitted(read, admit).catch((thrown: unknown) => {
      const tip = this.#options.mesh.tip(meta.commitment) ?? 0;
      throw isSlotNotReached(thrown) ? minSlotNotReached(minSlot, tip, thrown) : thrown;
    });
  }

  /** Joins the load under way, or starts one once it is admitted. */
  #loadAdmitted(read: CacheableRead<T>, admit: Admit): Promise<Arrival<T>> {
    const start = (): Promise<Arrival<T>> => this.#loadInPlace(read);
    return this.#flights.get(flightKey(read))?.catch(ifNoTurn(() => admit(start))) ?? admit(start);
  }

  /** If the load of another caller finds no room, this one loads alone, so that it fails for no share but its own. */
  #loadInPlace(read: CacheableRead<T>): Promise<Arrival<T>> {
    const key = flightKey(read);
    const load = (): Promise<Arrival<T>> => this.#load(read, LOADS);
    return this.#flights.get(key)?.catch(ifNoTurn(load)) ?? this.#flights.run(key, load);
  }

  /** Loads and caches an answer, or the cluster's own refusal; again if newer answers than this one aren't cached any more. */
  #load(read: CacheableRead<T>, loads: number): Promise<Arrival<T>> {
    const { key, meta, minSlot, load } = read;
    if (load === undefined) return Promise.reject(new GatewayError('stale', NO_NEW_SLOT));
    const tipAtFetch = this.#cache.tip;
    const floor = Math.max(this.#floor(read), minSlot);
    return load(floor > 0 ? floor : undefined, minSlot).then(
      (loaded) => {
        const arrival = this.#store(read, loaded, floor, tipAtFetch);
        if (arrival !== undefined) return arrival;
        if (loads > 1) return this.#load(read, loads - 1);
        throw servedSlotNotReached();
      },
      (thrown: unknown) => {
        if (thrown instanceof GatewayError && read.isNegative(thrown)) {
          const policy = isLastingRefusal(thrown) ? LASTING_POLICY : NEGATIVE_POLICY;
          this.#cache.putRefusal(key, thrown, policy, meta, minSlot);
        }
        throw thrown;
      },
    );
  }

  /** Caches an answer. Undefined if a newer one was served since that isn't cached any more. */
  #store(read: CacheableRead<T>, loaded: LoadedAnswer<T>, floor: Slot, tipAtFetch: Slot): Arrival<T> | undefined {
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

  #insteadOf(thrown: unknown, read: CacheableRead<T>, how: Counter): CachedRead<T> {
    const { reads } = this.#cache;
    if (thrown instanceof GatewayError && read.isNegative(thrown)) reads[how]++;
    const entry = this.#fallback(read, thrown);
    reads.stale++;
    return { entry, cacheStatus: 'STALE' };
  }

  /** Returns the cached answer in place of a failure, or throws if the failure or the answer's age forbids that. */
  #fallback(read: CacheableRead<T>, thrown: unknown): Entry {
    const { key, meta, minSlot } = read;
    const needsProgress = this.#options.staleIf === 'upstream-is-behind';
    const isCovered = needsProgress
      ? isSlotNotReached(thrown) && minSlot < this.#floor(read) // else the caller has seen more
      : thrown instanceof GatewayError && !read.isNegative(thrown); // an answer must not hide a defect of the gateway
    if (!isCovered) throw thrown;
    const item = this.#cache.peek(key);
    const cached = item?.kind === 'answer' && item.slot >= minSlot && hasAgreement(item, read) ? item : undefined;
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

  #floor({ key, meta }: CacheableRead<T>): Slot {
    return this.#cache.floor(key, meta.commitment) ?? 0;
  }
}

/** The outcome of a load: what it stored, or a newer answer that was cached before. */
interface Arrival<T> {
  readonly entry: T | Entry;
  readonly fromSnapshot: boolean;
}

/** Does work again that had no turn at a node; passes any other failure on. */
const ifNoTurn =
  <R>(again: () => Promise<R>) =>
  (thrown: unknown): Promise<R> => {
    if (thrown instanceof GatewayError && hadNoTurn(thrown)) return again();
    throw thrown;
  };

/** Returns the key of the shared load. Reads with a minimum slot can't join those that accept any slot. */
const flightKey = ({ key, minSlot, agree = 1 }: CacheableRead<unknown>): string =>
  minSlot === 0 && agree === 1 ? key : `${key} ${minSlot} ${agree}`;

const hasAgreement = (
  { agreement, slot }: Pick<CacheItem, 'agreement' | 'slot'>,
  { agree = 1 }: CacheableRead<unknown>,
): boolean => agree === 1 || agreedAt(agreement, slot) >= agree;

/** Returns the error for an answer that fewer operators gave than the caller demands. */
export const noAgreement = (agree = 1): GatewayError =>
  new GatewayError('no_agreement', `fewer than ${agree} operators gave the same answer at one slot; retry in a moment`);
