import { agreedAt, noAgreement } from '../../shared/domain/agreement.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Admit, PlacedWork } from '../../shared/runtime/fair-semaphore.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { promised, settle, type Waiter } from '../../shared/runtime/waiter.ts';
import { WorkUnderWay } from '../../shared/runtime/work-under-way.ts';
import type { Cache } from '../cache/cache.ts';
import type { CacheItem, Entry } from '../cache/entry.ts';
import { hadNoTurn } from '../upstream/rpc/rpc-client.ts';
import {
  type Arrival,
  type CacheableRead,
  floorOf,
  isLastingRefusal,
  LOADS,
  Load,
  type LoadedAnswer,
  liveExpired,
  newerEntry,
} from './load.ts';
import {
  checkReachable,
  isSlotNotReached,
  MAX_WAIT_MS,
  minSlotNotReached,
  type SlotSource,
  servedSlotNotReached,
  waitForSlot,
} from './min-slot.ts';

export type CacheStatus = 'HIT' | 'MISS' | 'STALE';

export interface CachedRead<T = Entry> {
  readonly entry: T | Entry;
  readonly cacheStatus: CacheStatus;
}

export interface ReadThroughOptions extends SlotSource {
  readonly cache: Cache;
  /**
   * Reads a stale answer again in the background, for no caller, while it is served (RFC 5861: stale-while-revalidate). Default: a
   * stale answer is served only where the upstream fails.
   */
  readonly revalidate?: (entry: Entry) => Promise<unknown> | undefined;
  /** RFC 5861, stale-if-error: any failure of the upstream, or only one to reach the slot of an earlier answer. */
  readonly staleIf: 'upstream-fails' | 'upstream-is-behind';
  /** Admits loads that no request waits for, or that name no other admission. */
  readonly admitOwn: Admit;
}

const RETRY_INTERVAL_MS = 400;

/** Time between two checks of an answer that the pipeline publishes, in milliseconds. */
const LIVE_CHECK_MS = 20;

/** What counts a read that the cache didn't answer; a refresh is nobody's read. */
type Counter = 'miss' | 'joined' | 'bypass' | 'refresh';

/** Loads answers into the cache. Concurrent equal reads share one load; no answer is older than one already served. */
export class ReadThrough<T extends LoadedAnswer, A extends LoadedAnswer = T> {
  readonly #options: ReadThroughOptions;
  readonly #cache: Cache;
  /** The loads that equal reads join, by {@link loadKeyOf}. */
  readonly #loads = new WorkUnderWay<Load<T, A>>();
  readonly #retriedMs = new WeakMap<Entry, number>();
  /** One timer for all that wait for the pipeline. */
  #nextCheck: Promise<void> | undefined;

  constructor(options: ReadThroughOptions) {
    this.#options = options;
    this.#cache = options.cache;
  }

  /**
   * Returns the cached answer, as {@link fromCache} does, or gives the waiter one. A new load needs admission, but not while
   * it waits for a slot. After a failure the cached answer may be served.
   */
  begin(read: CacheableRead<T, A>, waiter: Waiter<CachedRead<T>>, admit?: Admit): CachedRead<T> | undefined {
    const cached = this.fromCache(read);
    if (cached !== undefined) return cached;
    if (read.isLive === true && read.minSlot > 0) settle(() => this.#awaitLive(read), waiter);
    else {
      const how =
        this.#loads.get(loadKeyOf(read)) !== undefined ? 'joined' : read.bypasses === true ? 'bypass' : 'miss';
      new PendingRead(this.#options, this.#loads, { read, admit, how, waiter }).begin();
    }
    return undefined;
  }

  /** Loads the answer ahead of its next reader. A failure keeps the cached one. */
  refresh(read: CacheableRead<T, A>): Promise<unknown> {
    return promised<unknown>((waiter) =>
      new PendingRead(this.#options, this.#loads, { read, admit: undefined, how: 'refresh', waiter }).begin(),
    ).catch(() => undefined);
  }

  /** Returns the cached answer if it may be served without waiting, else undefined. Throws a cached negative answer. */
  fromCache(read: CachedReadQuery): CachedRead<T> | undefined {
    const cached = read.isForPush === true ? this.#cache.peekCurrent(read.key) : this.#cache.get(read.key);
    const isOld = cached?.kind === 'answer' && !this.#cache.isFresh(cached);
    const item = isOld ? (this.#cache.renew(cached) ?? cached) : cached;
    const { isLive = false } = read;
    if (item === undefined) {
      if (isLive)
        throw new GatewayError('upstream_unavailable', 'no node has answered this read yet; retry in a moment');
      return undefined;
    }
    const status = this.#cache.statusOf(item);
    if (item.kind === 'refusal' && status === 'fresh' && isLastingRefusal(item.refusal))
      throw this.#counted(item.refusal);
    if (!hasAgreement(item, read)) return undefined;
    if (item.kind === 'refusal' && item.refusal.final) throw this.#counted(item.refusal);
    if (item.slot < read.minSlot) return undefined;
    if (status === 'fresh' && item.kind === 'refusal') throw this.#counted(item.refusal);
    if (status === 'fresh' && item.kind === 'answer') {
      this.#cache.reads.hit++;
      return { entry: item, cacheStatus: 'HIT' };
    }
    if (status === 'stale' && item.kind === 'answer' && this.#options.revalidate !== undefined) {
      if (item.lease?.state !== 'renewing') this.#retryInBackground(item); // it comes to be live, each in its turn
      this.#cache.reads.stale++;
      return { entry: item, cacheStatus: 'STALE' };
    }
    if (status === 'expired' && isLive) throw liveExpired(this.#cache);
    return undefined;
  }

  #counted(refusal: GatewayError): GatewayError {
    this.#cache.reads.hit++;
    return refusal;
  }

  #retryInBackground(entry: Entry): void {
    const { coarseNowMs } = this.#cache;
    if (coarseNowMs - (this.#retriedMs.get(entry) ?? Number.NEGATIVE_INFINITY) < RETRY_INTERVAL_MS) return;
    this.#retriedMs.set(entry, coarseNowMs);
    this.#options.revalidate?.(entry)?.catch(() => {}); // the stale answer stays
  }

  /** Waits until the pipeline has published an answer of the caller's minimum slot: a frame may follow its slot by a throttle. */
  async #awaitLive(read: CacheableRead<T, A>): Promise<CachedRead<T>> {
    const { key, minSlot, commitment } = read;
    const { clock } = this.#options;
    checkReachable(minSlot, commitment, this.#options);
    const deadlineMs = clock.monotonic() + MAX_WAIT_MS;
    let refreshed: CacheItem | undefined;
    for (;;) {
      const item = this.#cache.peek(key);
      const served = item !== undefined && item.slot >= minSlot ? this.fromCache(read) : undefined;
      if (served !== undefined) return served;
      if (clock.monotonic() >= deadlineMs) throw minSlotNotReached(minSlot, item?.slot ?? 0);
      if (item !== refreshed) void item?.refresher?.refresh(key);
      refreshed = item;
      this.#nextCheck ??= sleep(clock, LIVE_CHECK_MS).then(() => {
        this.#nextCheck = undefined;
      });
      await this.#nextCheck;
    }
  }
}

interface PendingReadInit<T extends LoadedAnswer, A extends LoadedAnswer> {
  readonly read: CacheableRead<T, A>;
  readonly admit: Admit | undefined;
  readonly how: Counter;
  readonly waiter: Waiter<CachedRead<T>>;
}

/**
 * One read of one caller, until it is answered: it joins the load under way, or is admitted and starts one. In most cases
 * nothing waits but for that load.
 */
class PendingRead<T extends LoadedAnswer, A extends LoadedAnswer> implements PlacedWork, Waiter<Arrival<T>> {
  readonly #options: ReadThroughOptions;
  readonly #loads: WorkUnderWay<Load<T, A>>;
  readonly #read: CacheableRead<T, A>;
  readonly #admit: Admit;
  readonly #how: Counter;
  readonly #waiter: Waiter<CachedRead<T>>;
  /** Gives back the place that it has; undefined without one. */
  #leave: (() => void) | undefined;
  /** Whether the load that it waits for was started by another read. */
  #hasJoined = false;
  #hasWaited = false;
  /** Whether the tip had reached that slot when it began: a node that refuses it is behind. */
  #isReached = false;
  #loadsLeft = LOADS;

  constructor(
    options: ReadThroughOptions,
    loads: WorkUnderWay<Load<T, A>>,
    { read, admit = options.admitOwn, how, waiter }: PendingReadInit<T, A>,
  ) {
    this.#options = options;
    this.#loads = loads;
    this.#read = read;
    this.#admit = admit;
    this.#how = how;
    this.#waiter = waiter;
  }

  begin(): void {
    this.#loadsLeft--;
    this.#hasWaited = false;
    if (this.#waitsForSlot) {
      try {
        const { minSlot, commitment } = this.#read;
        checkReachable(minSlot, commitment, this.#options);
        this.#isReached = (this.#options.mesh.tip(commitment) ?? 0) >= minSlot;
      } catch (thrown) {
        this.#fail(thrown);
        return;
      }
    }
    this.#joinOrEnter();
  }

  start(leave: () => void): void {
    this.#leave = leave;
    if (!this.#joins()) this.#load(true);
  }

  refuse(reason: unknown): void {
    this.#fail(reason);
  }

  resolve(arrival: Arrival<T>): void {
    this.#end();
    const entry = this.#newest(arrival);
    if (entry !== undefined && 'kind' in entry && !hasAgreement(entry, this.#read))
      this.#waiter.reject(noAgreement(this.#read.agree));
    else if (entry !== undefined) {
      if (this.#how !== 'refresh') this.#options.cache.reads[this.#how]++;
      this.#waiter.resolve({ entry, cacheStatus: 'MISS' });
    } else if (this.#loadsLeft > 0) this.begin();
    else this.#fail(servedSlotNotReached());
  }

  reject(thrown: unknown): void {
    if (this.#hasJoined && hadNoTurn(thrown)) {
      // the load of another caller found no room: this one fails for no share but its own
      this.#hasJoined = false;
      if (this.#leave === undefined) this.#admit(this);
      else this.#load(false);
      return;
    }
    this.#end();
    if (!this.#waitsForSlot || !isSlotNotReached(thrown)) this.#fail(thrown);
    else if (this.#hasWaited) {
      const { minSlot, commitment } = this.#read;
      this.#fail(minSlotNotReached(minSlot, this.#options.mesh.tip(commitment) ?? 0, thrown));
    } else this.#loadAwaited();
  }

  get #waitsForSlot(): boolean {
    const { minSlot, isLive, waitsForMinSlot } = this.#read;
    return minSlot > 0 && isLive !== true && waitsForMinSlot;
  }

  /** Loads once more after a wait, as no upstream had reached the caller's minimum slot. */
  #loadAwaited(): void {
    const { minSlot, commitment } = this.#read;
    const { clock, mesh } = this.#options;
    this.#hasWaited = true;
    settle(() => (this.#isReached ? sleep(clock, mesh.slotTimeMs) : waitForSlot(minSlot, commitment, this.#options)), {
      resolve: () => this.#joinOrEnter(),
      reject: (thrown) => this.#fail(thrown),
    });
  }

  #joinOrEnter(): void {
    if (!this.#joins()) this.#admit(this);
  }

  /** Joins the load under way. Returns false if there is none. */
  #joins(): boolean {
    const load = this.#loads.get(loadKeyOf(this.#read));
    load?.join(this);
    this.#hasJoined = load !== undefined;
    return this.#hasJoined;
  }

  #load(isShared: boolean): void {
    const key = loadKeyOf(this.#read);
    const load = new Load(this.#options.cache, this.#read, () => {
      if (isShared) this.#loads.delete(key);
    });
    if (isShared) this.#loads.set(key, load);
    load.join(this);
    load.begin();
  }

  #end(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Returns the newer of a loaded answer and the cached one; undefined if a newer one was served that isn't cached. */
  #newest({ entry, fromSnapshot }: Arrival<T>): T | Entry | undefined {
    const { cache } = this.#options;
    if (Object.is(cache.peek(this.#read.key), entry)) return entry;
    const isOvertaken = entry.slot < floorOf(cache, this.#read) && !fromSnapshot;
    return newerEntry(cache, this.#read.key, entry.slot) ?? (isOvertaken ? undefined : entry);
  }

  /** Gives the cached answer in place of a failure, or the failure if that or the answer's age forbids it. */
  #fail(thrown: unknown): void {
    const { reads } = this.#options.cache;
    const isCounted = this.#how !== 'refresh';
    if (isCounted && thrown instanceof GatewayError && this.#read.isNegative(thrown)) reads[this.#how]++;
    const outcome = this.#insteadOf(thrown);
    if (!('entry' in outcome)) {
      this.#waiter.reject(outcome.thrown);
      return;
    }
    if (isCounted) reads.stale++;
    this.#waiter.resolve({ entry: outcome.entry, cacheStatus: 'STALE' });
  }

  #insteadOf(thrown: unknown): { readonly entry: Entry } | { readonly thrown: unknown } {
    const { key, commitment, minSlot } = this.#read;
    const { cache, staleIf } = this.#options;
    const needsProgress = staleIf === 'upstream-is-behind';
    const isCovered = needsProgress
      ? isSlotNotReached(thrown) && minSlot < floorOf(cache, this.#read) // else the caller has seen more
      : thrown instanceof GatewayError && !this.#read.isNegative(thrown); // an answer must not hide a defect of the gateway
    if (!isCovered) return { thrown };
    const item = cache.peek(key);
    const cached = item?.kind === 'answer' && item.slot >= minSlot && hasAgreement(item, this.#read) ? item : undefined;
    const isUsable = cached !== undefined && cache.statusOf(cached) !== 'expired';
    if (needsProgress) {
      const mayBeRolledBack = commitment === 'processed' && cached?.policy !== 'live';
      return isUsable && !mayBeRolledBack ? { entry: cached } : { thrown: servedSlotNotReached(thrown) };
    }
    if (isUsable) return { entry: cached };
    return { thrown: cached === undefined ? thrown : tooOld(thrown) };
  }
}

const tooOld = (cause: unknown): GatewayError =>
  new GatewayError('stale', 'no upstream answers, and the cached answer is too old: /health names the upstreams', {
    cause,
  });

/** Returns the key of the load that equal reads share. Those with a minimum slot can't join those that accept any slot. */
const loadKeyOf = ({ key, minSlot, agree = 1 }: KeyedRead): string =>
  minSlot === 0 && agree === 1 ? key : `${key} ${minSlot} ${agree}`;

export const hasAgreement = (
  { agreement, slot }: Pick<CacheItem, 'agreement' | 'slot'>,
  { agree = 1 }: Pick<KeyedRead, 'agree'>,
): boolean => agree === 1 || agreedAt(agreement, slot) >= agree;

type KeyedRead = Pick<CacheableRead<LoadedAnswer>, 'key' | 'minSlot' | 'agree'>;

type CachedReadQuery = KeyedRead & Pick<CacheableRead<LoadedAnswer>, 'isForPush' | 'isLive'>;
