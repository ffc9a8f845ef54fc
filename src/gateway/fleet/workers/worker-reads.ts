import type { ConfiguredOperators } from '../../../config/operators.ts';
import { noAgreement } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { type Admit, runAdmitted } from '../../../shared/runtime/fair-semaphore.ts';
import { settle, type Waiter } from '../../../shared/runtime/waiter.ts';
import type { Entry } from '../../cache/entry.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import { agreeOf, type ReadRequest, type RouteReads } from '../../routes/routing/route-read-through.ts';
import { type CachedRead, hasAgreement, ReadThrough } from '../../serving/read-through.ts';
import type { AnswerRequest } from '../rpc/messages.ts';
import type { WorkerEnd } from './worker-end.ts';

export interface WorkerReadsOptions {
  readonly end: WorkerEnd;
  readonly clock: Clock;
  readonly operators: ConfiguredOperators | undefined;
  readonly admitOwn: Admit;
}

/** A request with all that one may leave out. */
interface WholeRequest extends AnswerRequest {
  readonly minSlot: Slot;
  readonly agree: number;
  readonly isForPush: boolean;
}

/** Reads through the copy of a worker: by the rules of the cache itself, and what misses through the pipeline process. */
export class WorkerReads implements RouteReads {
  readonly #options: WorkerReadsOptions;
  readonly #readThrough: ReadThrough<Entry>;

  constructor(options: WorkerReadsOptions) {
    this.#options = options;
    const { end } = options;
    const { cache, mesh } = end;
    const underWay = new SingleFlight<CachedRead>();
    const revalidate = ({ key }: Entry): Promise<unknown> | undefined =>
      end.isJoined ? underWay.run(key, () => runAdmitted(options.admitOwn, () => end.read({ key }))) : undefined;
    this.#readThrough = new ReadThrough({ ...options, cache, mesh, revalidate, staleIf: 'upstream-fails' });
  }

  begin(
    request: ReadRequest,
    waiter: Waiter<CachedRead>,
    admit: Admit = this.#options.admitOwn,
    cost?: RequestCost,
  ): CachedRead | undefined {
    const { route, params, key, minSlot = 0, isForPush = false } = request;
    const agree = agreeOf(params, request.agree, this.#options);
    const read = { key, minSlot, agree, isForPush };
    const cached = this.#readThrough.fromCache({ ...read, isLive: route.kind === 'live' });
    if (cached === undefined) settle(() => this.#read(read, admit, cost), waiter);
    return cached;
  }

  async #read(request: WholeRequest, admit: Admit, cost?: RequestCost): Promise<CachedRead> {
    const { key, minSlot, agree } = request;
    const { end } = this.#options;
    const { cache } = end;
    const { reads } = cache;
    try {
      const read = await runAdmitted(admit, () => end.read(request, cost));
      if (!hasAgreement(read.entry, request)) throw noAgreement(agree); // another worker's answer, which is newer
      reads.miss++;
      return read;
    } catch (thrown) {
      const item = cache.peek(key);
      const isCovered = thrown instanceof GatewayError && thrown.code === 'upstream_unavailable';
      const isUsable = item?.kind === 'answer' && item.slot >= minSlot && hasAgreement(item, request);
      if (!isCovered || !isUsable || cache.statusOf(item) === 'expired') throw thrown;
      reads.stale++;
      return { entry: item, cacheStatus: 'STALE' };
    }
  }
}
