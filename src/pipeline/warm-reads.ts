import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  map,
  type Observable,
  ReplaySubject,
  startWith,
  tap,
} from 'rxjs';
import type { Cache } from '../cache/cache.ts';
import type { Clock } from '../domain/clock.ts';
import type { ClusterVitals } from '../domain/cluster-vitals.ts';
import { describeEpoch, type EpochInfo } from '../domain/epoch-info.ts';
import { describePerformance, type Performance } from '../domain/performance-sample.ts';
import { describePriorityFee, type PriorityFee } from '../domain/priority-fee-estimate.ts';
import { SLOT_MS, type Slot } from '../domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { readEpochInfo, readPerformanceSamples, readPrioritizationFees } from '../upstream/reads/network-statistics.ts';
import { type LivePath, putLiveAnswer } from './live-answer.ts';

export interface WarmReadsOptions {
  readonly mesh: Mesh;
  readonly cache: Cache;
  readonly clock: Clock;
  /** Updated with the slot time and the parts that fail. */
  readonly vitals: ClusterVitals;
  /** The shortest time between two reads of each part, in milliseconds. */
  readonly refresh: { readonly epochMs: number; readonly performanceMs: number; readonly priorityFeeMs: number };
  /** Called with the first failure in a row; the previous answer is still served. */
  readonly onError: (path: string, cause: unknown) => void;
}

/** The longest time after which a read that failed is tried again. */
const RETRY_MS = 1000;

const PATHS = ['/epoch', '/performance', '/priority-fee'] as const satisfies readonly LivePath[];

/** Reads what the network's state consists of again as slots come, and caches it as answers of its own. */
export class WarmReads {
  readonly epoch$: Observable<EpochInfo>;
  /** Null before the first sample. */
  readonly performance$: Observable<Performance | null>;
  /** Null before the first estimate. */
  readonly priorityFee$: Observable<PriorityFee | null>;
  /** Emits once, when each part was read or its first read has failed. */
  readonly settled$ = new ReplaySubject<void>(1);
  readonly #options: WarmReadsOptions;
  readonly #unsettled = new Set<LivePath>(PATHS);
  readonly #slot$: Observable<Slot>;

  constructor(slot$: Observable<Slot>, options: WarmReadsOptions) {
    const { mesh, cache, clock, refresh, vitals } = options;
    this.#options = options;
    this.#slot$ = slot$;
    this.epoch$ = this.#keepWarm('/epoch', refresh.epochMs, () => readEpochInfo(mesh, 'confirmed')).pipe(
      tap(({ slot, result }) => {
        const epoch = describeEpoch(result, vitals.slotTimeMs, clock.now());
        putLiveAnswer(cache, '/epoch', { slot, result: epoch }, 'confirmed');
      }),
      map(({ result }) => result),
    );
    this.performance$ = this.#keepWarm('/performance', refresh.performanceMs, () => readPerformanceSamples(mesh)).pipe(
      map(({ slot, result }) => ({ slot, result: result.map(describePerformance) })),
      tap((answer) => {
        vitals.slotTimeMs = answer.result[0]?.slotTimeMs ?? SLOT_MS;
        putLiveAnswer(cache, '/performance', answer, 'confirmed');
      }),
      map(({ result }) => result[0] ?? null),
      startWith<Performance | null>(null),
    );
    this.priorityFee$ = this.#keepWarm('/priority-fee', refresh.priorityFeeMs, () => readPrioritizationFees(mesh)).pipe(
      map(({ slot, result }) => ({ slot, result: describePriorityFee(result, slot) })),
      tap((answer) => putLiveAnswer(cache, '/priority-fee', answer, 'confirmed')),
      map(({ result }) => result),
      startWith(null),
    );
  }

  /** Repeats a read as slots come, at most once per period and one at a time. After a failure the old answer stays. */
  #keepWarm<T>(path: LivePath, periodMs: number, read: () => Promise<T>): Observable<T> {
    const { clock, vitals, onError } = this.#options;
    let dueMs = Number.NEGATIVE_INFINITY;
    vitals.failures.set(path, 0);
    const onReadFailed = (cause: unknown): Observable<never> => {
      dueMs = clock.monotonic() + Math.min(RETRY_MS, periodMs);
      if (vitals.recordFailure(path)) onError(path, cause); // not again at each retry
      return EMPTY;
    };
    const attempt$ = defer(() => {
      dueMs = clock.monotonic() + periodMs;
      return read();
    }).pipe(
      tap(() => vitals.failingParts.delete(path)),
      catchError(onReadFailed),
      finalize(() => this.#settle(path)), // after the answer was put into the cache
    );
    return this.#slot$.pipe(
      filter(() => clock.monotonic() >= dueMs),
      exhaustMap(() => attempt$),
    );
  }

  #settle(path: LivePath): void {
    if (!this.#unsettled.delete(path) || this.#unsettled.size > 0) return;
    this.settled$.next();
    this.settled$.complete();
  }
}
