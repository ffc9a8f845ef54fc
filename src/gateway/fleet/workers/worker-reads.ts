import type { ConfiguredOperators } from '../../../config/operators.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { AnswerMeta, Entry } from '../../cache/entry.ts';
import { agreeOf, isNegative, type ReadRequest, type RouteReads } from '../../routes/routing/route-read-through.ts';
import { type Admit, type CacheableRead, type CachedRead, ReadThrough } from '../../serving/read-through.ts';
import type { WorkerEnd } from './worker-end.ts';

export interface WorkerReadsOptions {
  readonly end: WorkerEnd;
  readonly clock: Clock;
  readonly operators: ConfiguredOperators | undefined;
  readonly admitOwn: Admit;
}

/** Reads through the copy of a worker: by the rules of the cache itself, and what misses through the pipeline process. */
export class WorkerReads implements RouteReads {
  readonly #options: WorkerReadsOptions;
  readonly #readThrough: ReadThrough<Entry>;

  constructor(options: WorkerReadsOptions) {
    this.#options = options;
    const { cache, mesh } = options.end;
    const stale = { staleWhileRevalidate: true, staleIf: 'upstream-fails' } as const;
    this.#readThrough = new ReadThrough({ ...options, cache, mesh, ...stale });
  }

  fromCache(request: ReadRequest): CachedRead | undefined {
    return this.#readThrough.fromCache(this.#readOf(request));
  }

  async fetch(
    { key, minSlot, agree, isForPush = false }: ReadRequest,
    admit: Admit = this.#options.admitOwn,
    cost?: RequestCost,
  ): Promise<CachedRead> {
    const { end } = this.#options;
    const { cache } = end;
    const { reads } = cache;
    try {
      const read = await admit(() => end.read(key, minSlot, isForPush, cost, agree));
      reads.miss++;
      return read;
    } catch (thrown) {
      const item = cache.peek(key);
      const isCovered = thrown instanceof GatewayError && thrown.code === 'upstream_unavailable';
      if (!isCovered || item?.kind !== 'answer' || item.slot < (minSlot ?? 0) || cache.statusOf(item) === 'expired')
        throw thrown;
      reads.stale++;
      return { entry: item, cacheStatus: 'STALE' };
    }
  }

  #readOf({ route, params, key, minSlot = 0, agree: ofHeader, isForPush = false }: ReadRequest): CacheableRead<Entry> {
    const agree = agreeOf(params, ofHeader, this.#options);
    const meta: AnswerMeta = { envelope: route.envelope, commitment: 'processed', exact: false };
    const load = async (_: Slot | undefined, namedSlot: Slot) => {
      const { entry } = await this.#options.end.read(key, namedSlot, isForPush, undefined, agree);
      return { slot: entry.slot, store: () => entry };
    };
    return {
      key,
      meta,
      minSlot,
      agree,
      isForPush,
      waitsForMinSlot: false,
      load: route.kind === 'live' ? undefined : load,
      isNegative,
    };
  }
}
