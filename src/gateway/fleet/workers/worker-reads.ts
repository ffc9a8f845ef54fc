import type { ConfiguredOperators } from '../../../config/operators.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { type Admit, runAdmitted } from '../../../shared/runtime/fair-semaphore.ts';
import { settle, type Waiter } from '../../../shared/runtime/waiter.ts';
import type { AnswerMeta, Entry } from '../../cache/entry.ts';
import { agreeOf, isNegative, type ReadRequest, type RouteReads } from '../../routes/routing/route-read-through.ts';
import type { CacheableRead } from '../../serving/load.ts';
import { type CachedRead, ReadThrough } from '../../serving/read-through.ts';
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

  begin(
    request: ReadRequest,
    waiter: Waiter<CachedRead>,
    admit: Admit = this.#options.admitOwn,
    cost?: RequestCost,
  ): CachedRead | undefined {
    const cached = this.#readThrough.fromCache(this.#readOf(request));
    if (cached === undefined) settle(() => this.#read(request, admit, cost), waiter);
    return cached;
  }

  async #read(request: ReadRequest, admit: Admit, cost?: RequestCost): Promise<CachedRead> {
    const { key, minSlot, agree, isForPush } = request;
    const { end } = this.#options;
    const { cache } = end;
    const { reads } = cache;
    try {
      const read = await runAdmitted(admit, () => end.read({ key, minSlot, agree, isForPush }, cost));
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
    const read = (minSlot: Slot): Promise<Entry> =>
      this.#options.end.read({ key, minSlot, isForPush, agree }).then(({ entry }) => entry);
    return {
      key,
      meta,
      commitment: meta.commitment,
      minSlot,
      agree,
      isForPush,
      waitsForMinSlot: false,
      isLive: route.kind === 'live',
      load: (_floor, namedSlot, waiter) => settle(() => read(namedSlot), waiter),
      store: (entry) => entry,
      isNegative,
    };
  }
}
