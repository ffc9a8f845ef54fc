import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry } from '../cache/entry.ts';
import { SingleFlight } from '../cache/single-flight.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { toJson } from '../domain/to-json.ts';
import type { Admit, LiveRoute, ParamSet, Params, ReadRoute, RouteContext } from '../routing/route.ts';
import { translateRpcError } from '../upstream/rpc/translate-rpc-error.ts';
import { checkReachable, isSlotNotReached, minSlotNotReached, servedSlotNotReached, waitForSlot } from './min-slot.ts';

/** How an answer was come by: the `X-Cache` header. */
export type CacheStatus = 'HIT' | 'MISS' | 'STALE';

export interface CachedRead {
  readonly entry: Entry;
  readonly cacheStatus: CacheStatus;
}

/** A read that is kept: its route, and its parameters, all of them valid. */
export interface ReadRequest {
  readonly route: LiveRoute | ReadRoute;
  readonly params: Params<ParamSet>;
  /** The canonical target: the name of the answer in the cache. */
  readonly key: string;
  /** The answer must not be older than this. */
  readonly minSlot?: Slot | undefined;
}

/** A stale key is tried again in the background at most this often. */
const RETRY_INTERVAL_MS = 400;

/** For how many slots it is told again that something is not there. */
const REFUSAL_SLOTS = 2;

/** Where answers that are no plain hit come from. Equal questions at one time are one question to the upstream. */
export class ReadThrough {
  readonly #context: RouteContext;
  readonly #cache: Cache;
  readonly #flights = new SingleFlight<Entry>();
  readonly #retriedMs = new WeakMap<Entry, number>();

  constructor(context: RouteContext) {
    this.#context = context;
    this.#cache = context.cache;
  }

  /** How many questions are with the upstream now. */
  get inFlight(): number {
    return this.#flights.size;
  }

  /** The answer if it can be had without waiting, or undefined: then {@link fetch} gets it. May throw its refusal. */
  fromCache(request: ReadRequest): CachedRead | undefined {
    const cached = this.#cache.get(request.key);
    const entry = cached && this.#cache.advanceToLease(cached);
    if (entry === undefined) {
      if (request.route.kind === 'live') throw new GatewayError('warming_up', 'not read from the cluster yet');
      return undefined;
    }
    const freshness = this.#cache.statusOf(entry);
    if (entry.slot < (request.minSlot ?? 0) && entry.refusal?.final !== true) {
      if (request.route.kind === 'live') throw minSlotNotReached();
      return undefined;
    }
    switch (freshness) {
      case 'fresh':
        if (entry.refusal !== undefined) throw entry.refusal;
        return { entry, cacheStatus: 'HIT' };
      case 'stale':
        this.#retryInBackground(request, entry);
        return { entry, cacheStatus: 'STALE' };
      case 'old':
        return undefined;
      case 'expired':
        if (request.route.kind === 'live') throw new GatewayError('stale', 'the cluster was not heard of for too long');
        return undefined;
    }
  }

  /**
   * Asks the upstream when its turn has come; who asks what is being asked already only waits. When it can't do better,
   * the old answer goes on until it is too old.
   */
  async fetch(request: ReadRequest, admit: Admit = (work) => work()): Promise<CachedRead> {
    const { key, minSlot = 0 } = request;
    const fetchEntry = (): Promise<Entry> => this.#fetchAtMinSlot(request, minSlot);
    try {
      const isInFlight = this.#flights.has(flightKey(key, minSlot));
      const entry =
        this.#newestEntry(await (isInFlight ? fetchEntry() : admit(fetchEntry))) ??
        this.#newestEntry(await fetchEntry());
      if (entry === undefined) throw servedSlotNotReached();
      return { entry, cacheStatus: 'MISS' };
    } catch (thrown) {
      const cached = this.#cache.peek(key);
      const isDefect = !(thrown instanceof GatewayError); // ours, so an old answer must not cover it
      const fallback =
        cached === undefined || cached.refusal !== undefined || cached.slot < minSlot ? undefined : cached;
      if (isDefect || isNegativeAnswer(thrown) || fallback === undefined) throw thrown;
      if (this.#cache.statusOf(fallback) !== 'expired') return { entry: fallback, cacheStatus: 'STALE' };
      throw new GatewayError('stale', 'no upstream answers, and what is known is too old', { cause: thrown });
    }
  }

  /** Asks, and once more a little later when the upstreams have not come to the slot that is wanted. */
  async #fetchAtMinSlot(request: ReadRequest, minSlot: Slot): Promise<Entry> {
    const { route, params } = request;
    if (minSlot === 0 || route.kind === 'live') return this.#fetchOnce(request);
    const commitment = route.commitmentOf(params);
    checkReachable(minSlot, commitment, this.#context);
    try {
      return await this.#fetchOnce(request);
    } catch (thrown) {
      if (!isSlotNotReached(thrown)) throw thrown;
    }
    await waitForSlot(minSlot, commitment, this.#context);
    return this.#fetchOnce(request).catch((thrown: unknown) => {
      throw isSlotNotReached(thrown) ? minSlotNotReached(thrown) : thrown;
    });
  }

  /** The answer that is kept, if it is newer than one of `slot`: equal questions may be answered out of order. */
  #newerEntry(key: string, slot: Slot): Entry | undefined {
    const cached = this.#cache.peek(key);
    return cached !== undefined && cached.refusal === undefined && cached.slot > slot ? cached : undefined;
  }

  /** The same for an answer; undefined when a newer one was given while this one came, and is not kept any more. */
  #newestEntry(entry: Entry): Entry | undefined {
    const { key, slot, meta } = entry;
    const isOvertaken = slot < (this.#cache.floor(key, meta.commitment) ?? 0) && meta.fromSnapshot !== true;
    return this.#newerEntry(key, slot) ?? (isOvertaken ? undefined : entry);
  }

  /** Reads an answer again before it is asked for again. A failure keeps the old one: nobody waits for this. */
  async #refresh(request: ReadRequest): Promise<void> {
    await this.#fetchOnce(request).catch(() => undefined);
  }

  #retryInBackground(request: ReadRequest, entry: Entry): void {
    const { coarseNowMs } = this.#cache;
    if (coarseNowMs - (this.#retriedMs.get(entry) ?? Number.NEGATIVE_INFINITY) < RETRY_INTERVAL_MS) return;
    this.#retriedMs.set(entry, coarseNowMs);
    void this.#refresh(request);
  }

  #fetchOnce(request: ReadRequest): Promise<Entry> {
    const { route, params, key, minSlot = 0 } = request;
    if (route.kind === 'live') return Promise.reject(new GatewayError('stale', 'the cluster was not heard of lately'));
    return this.#flights.run(flightKey(key, minSlot), async () => {
      const meta = metaOf(route, params);
      try {
        const entry =
          (await this.#readAndCache(route, request, meta)) ?? (await this.#readAndCache(route, request, meta));
        if (entry === undefined) throw servedSlotNotReached();
        return entry;
      } catch (thrown) {
        if (isNegativeAnswer(thrown)) this.#cache.putRefusal(key, thrown, REFUSAL_SLOTS, meta);
        throw thrown;
      }
    });
  }

  /** Reads an answer and keeps it. Undefined when a newer one was given meanwhile, and is not kept any more. */
  async #readAndCache(
    route: ReadRoute,
    { params, key, minSlot = 0 }: ReadRequest,
    requestMeta: AnswerMeta,
  ): Promise<Entry | undefined> {
    const tipAtFetch = this.#cache.tip;
    const currentFloor = (): Slot => this.#cache.floor(key, requestMeta.commitment) ?? 0;
    const floor = Math.max(currentFloor(), minSlot);
    const freshness = { minSlot: floor > 0 ? floor : undefined };
    const resolving = route.resolve(params, this.#context, freshness).catch(withoutRpcCode);
    const { slot, result, final = false, exact, lease, fromSnapshot = false } = await resolving;
    if (fromSnapshot && slot < minSlot) throw minSlotNotReached();
    if (slot < floor && !fromSnapshot) throw servedSlotNotReached();
    if (slot < currentFloor() && !fromSnapshot) return this.#newerEntry(key, slot);
    const answer = { slot, result: toJson(result), final, lease };
    const meta: AnswerMeta = { ...metaOf(route, params, exact), fromSnapshot };
    // A processed state may be taken back with the next slot.
    if (meta.commitment === 'processed') return this.#cache.put(key, answer, { slots: 1 }, meta, { tipAtFetch });
    const refresh = (): Promise<void> => this.#refresh({ route, params, key });
    return this.#cache.put(key, answer, route.cache, meta, { tipAtFetch, ...(!final && { refresh }) });
  }
}

/** Who wants an answer that is not too old can't join those who take any. */
const flightKey = (key: string, minSlot: Slot): string => (minSlot === 0 ? key : `${key} ${minSlot}`);

/** True of what the cluster says by it: that there is no such thing. No older answer must cover that. */
const isNegativeAnswer = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && (thrown.status === 404 || thrown.status === 410);

const metaOf = (route: ReadRoute, params: Params<ParamSet>, exact?: boolean): AnswerMeta => ({
  envelope: route.envelope,
  commitment: route.commitmentOf(params),
  exact: exact ?? route.isExact?.(params) ?? false,
  immutable: route.immutable ?? false,
});

/** For a refusal that the route has no word of its own for: the numbers of JSON-RPC belong to `/rpc`. */
const withoutRpcCode = translateRpcError({});
