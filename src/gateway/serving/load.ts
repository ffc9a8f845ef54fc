import { type Agreement, agreedAt } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Waiter } from '../../shared/runtime/waiter.ts';
import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry, TimedPolicy } from '../cache/entry.ts';
import { minSlotNotReached, servedSlotNotReached } from './min-slot.ts';

/** An answer of the upstream that isn't cached yet. */
export interface LoadedAnswer {
  readonly slot: Slot;
  /** True for a page of a snapshot, which may be older than answers served from elsewhere. */
  readonly fromSnapshot?: boolean | undefined;
  /** The operators that gave it; undefined where one did. */
  readonly agreement?: Agreement | undefined;
}

/** A read whose answers are cached under one key: their slots never go back. */
export interface CacheableRead<T extends LoadedAnswer, A extends LoadedAnswer = T> {
  readonly key: string;
  readonly commitment: Commitment;
  readonly meta: AnswerMeta;
  /** Oldest slot that the caller accepts; 0 for any. */
  readonly minSlot: Slot;
  /** Operators that must give the answer. Default: 1. */
  readonly agree?: number;
  /** Whether it doesn't count as read by anybody: subscribers are sent it. Default: false. */
  readonly isForPush?: boolean;
  /** Whether the answer is never cached. Default: false. */
  readonly bypasses?: boolean;
  /** Whether it names a past slot, so that newer answers don't make its answer old. Default: false. */
  readonly isPast?: boolean;
  /** Whether the pipeline keeps the answer current, so that there is nothing to load. Default: false. */
  readonly isLive?: boolean;
  /** Whether to wait a moment for an upstream to reach `minSlot`, and then to say that none has. */
  readonly waitsForMinSlot: boolean;
  /** Reads the upstream: at `floor` or later, from no snapshot older than `minSlot`. */
  load(floor: Slot | undefined, minSlot: Slot, waiter: Waiter<A>): void;
  /** Caches what was loaded. Returns what is served. */
  store(answer: A, tipAtFetch: Slot): T;
  /** Returns true for an error that is the cluster's own answer, such as "no such account". It is cached briefly. */
  isNegative(error: GatewayError): boolean;
}

/** The outcome of a load: what it stored, or a newer answer that was cached before. */
export interface Arrival<T> {
  readonly entry: T | Entry;
  readonly fromSnapshot: boolean;
}

/** Life of a cached negative answer (RFC 2308: negative caching): what is missing may be there with any slot. */
const NEGATIVE_POLICY: TimedPolicy = { slots: 2 };

/** Life of a lasting refusal: it spares the nodes a read that is dear. */
const LASTING_POLICY: TimedPolicy = { ms: 60_000 };

/** How often an answer is loaded that newer ones overtake. */
export const LOADS = 2;

/** Returns true for a refusal that the next slots won't change, and that is dear to find out again. */
export const isLastingRefusal = ({ code }: GatewayError): boolean =>
  code === 'result_too_large' || code === 'holders_unavailable';

/**
 * Loads and caches one answer, or the cluster's own refusal, for all reads that join it. It begins again where an operator was
 * found to lie since it began, unless two vouch for the answer: it may be made of the lie.
 */
export class Load<T extends LoadedAnswer, A extends LoadedAnswer> implements Waiter<A> {
  readonly #cache: Cache;
  readonly #read: CacheableRead<T, A>;
  readonly #onEnd: () => void;
  readonly #waiters: Waiter<Arrival<T>>[] = [];
  #loadsLeft = LOADS;
  #tipAtFetch: Slot = 0;
  #floor: Slot = 0;
  #unagreedDrops = 0;

  constructor(cache: Cache, read: CacheableRead<T, A>, onEnd: () => void) {
    this.#cache = cache;
    this.#read = read;
    this.#onEnd = onEnd;
  }

  join(waiter: Waiter<Arrival<T>>): void {
    this.#waiters.push(waiter);
  }

  begin(): void {
    this.#loadsLeft--;
    this.#load();
  }

  #load(): void {
    const { minSlot } = this.#read;
    this.#unagreedDrops = this.#cache.unagreedDrops;
    this.#tipAtFetch = this.#cache.tip;
    this.#floor = Math.max(floorOf(this.#cache, this.#read), minSlot);
    this.#read.load(this.#floor > 0 ? this.#floor : undefined, minSlot, this);
  }

  resolve(loaded: A): void {
    if (this.#hasFoundLie && agreedAt(loaded.agreement, loaded.slot) <= 1) {
      this.#load();
      return;
    }
    let arrival: Arrival<T> | undefined;
    try {
      arrival = this.#store(loaded);
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    if (arrival === undefined) {
      if (this.#loadsLeft > 0)
        this.begin(); // newer answers than this one were served, and aren't cached any more
      else this.#fail(servedSlotNotReached());
      return;
    }
    this.#onEnd();
    for (const waiter of this.#waiters) waiter.resolve(arrival);
  }

  reject(thrown: unknown): void {
    const { key, meta, agree = 1 } = this.#read;
    const isNegative = thrown instanceof GatewayError && this.#read.isNegative(thrown);
    if (this.#hasFoundLie && (isNegative || isNotAgreed(thrown))) {
      this.#load();
      return;
    }
    if (isNegative) {
      const policy = isLastingRefusal(thrown) ? LASTING_POLICY : NEGATIVE_POLICY;
      this.#cache.putRefusal(key, thrown, policy, meta, this.#floor, agree);
    }
    this.#fail(thrown);
  }

  get #hasFoundLie(): boolean {
    return this.#unagreedDrops !== this.#cache.unagreedDrops;
  }

  #fail(thrown: unknown): void {
    this.#onEnd();
    for (const waiter of this.#waiters) waiter.reject(thrown);
  }

  /** Caches an answer. Undefined if a newer one was served since that isn't cached any more. */
  #store(loaded: A): Arrival<T> | undefined {
    const { slot } = loaded;
    const { key, minSlot, isPast = false } = this.#read;
    const fromSnapshot = isPast || loaded.fromSnapshot === true;
    if (fromSnapshot && slot < minSlot) throw minSlotNotReached(minSlot, slot);
    if (slot < this.#floor && !fromSnapshot) throw servedSlotNotReached();
    if (slot < floorOf(this.#cache, this.#read) && !fromSnapshot) {
      const newer = newerEntry(this.#cache, key, slot);
      return newer && { entry: newer, fromSnapshot: newer.meta.fromSnapshot === true };
    }
    return { entry: this.#read.store(loaded, this.#tipAtFetch), fromSnapshot };
  }
}

const isNotAgreed = (thrown: unknown): boolean => thrown instanceof GatewayError && thrown.code === 'no_agreement';

/** Returns the slot below which no answer to the read may be, as one was served. */
export const floorOf = (
  cache: Cache,
  { key, commitment }: Pick<CacheableRead<LoadedAnswer>, 'key' | 'commitment'>,
): Slot => cache.floor(key, commitment) ?? 0;

/** Returns the cached answer if it is newer than the slot: equal reads may be answered out of order. */
export function newerEntry(cache: Cache, key: string, slot: Slot): Entry | undefined {
  const last = cache.peekLast(key);
  return last?.kind === 'answer' && last.slot > slot ? last : undefined;
}

/** Returns the error for what the pipeline keeps current, and could not for too long. */
export const liveExpired = ({ isStalled }: Pick<Cache, 'isStalled'>): GatewayError =>
  new GatewayError(
    'stale',
    isStalled
      ? 'no new slot came from the cluster for too long: /health names the upstreams'
      : 'no node has answered this read for too long: /health names the upstreams',
  );
