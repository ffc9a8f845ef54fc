import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  from,
  map,
  type Observable,
  ReplaySubject,
  share,
  startWith,
  tap,
} from 'rxjs';
import type { Answer } from '../../shared/domain/answer.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import type { ClusterConsensus } from '../../shared/domain/cluster-consensus.ts';
import { describeEpoch, type EpochInfo } from '../../shared/domain/epoch-info.ts';
import { describePerformance, type Performance } from '../../shared/domain/performance-sample.ts';
import { describePriorityFee, type PriorityFee } from '../../shared/domain/priority-fee-estimate.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Cache } from '../cache/cache.ts';
import type { Refresher } from '../cache/entry.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { readClusterConsensus } from '../upstream/reads/cluster-consensus.ts';
import { readEpochInfo, readPerformanceSamples, readPrioritizationFees } from '../upstream/reads/network-statistics.ts';
import type { AttemptOptions } from './attempt.ts';
import { type LivePath, putLiveAnswer } from './live-answer.ts';

export interface WarmReadsOptions extends AttemptOptions {
  readonly mesh: Mesh;
  readonly cache: Cache;
  readonly clock: Clock;
  /** The shortest time between two reads of each part, in milliseconds. */
  readonly refresh: { readonly epochMs: number; readonly performanceMs: number; readonly priorityFeeMs: number };
}

interface WarmRead<T, R> {
  read(): Promise<Answer<T>>;
  /** Returns the result of the path, and what frames of the network use of it. */
  describe(answer: Answer<T>): { readonly result: unknown; readonly used: R };
}

/** The longest time after which a read that failed is tried again. */
const RETRY_MS = 1000;

/** The time after which the consensus is read again within an epoch, in which a cluster migrates. */
const CONSENSUS_MS = 60_000;
const PATHS = ['/epoch', '/performance', '/priority-fee'] as const satisfies readonly LivePath[];

/** Reads what the network's state consists of again as slots come, and caches it as answers of its own. */
export class WarmReads {
  readonly epoch$: Observable<EpochInfo>;
  /** Null before the first sample. */
  readonly performance$: Observable<Performance | null>;
  /** Null before the first estimate. */
  readonly priorityFee$: Observable<PriorityFee | null>;
  /** Null while no node has said it. */
  readonly consensus$: Observable<ClusterConsensus | null>;
  /** Emits once, when each part was read or its first read has failed. */
  readonly settled$ = new ReplaySubject<void>(1);
  readonly #options: WarmReadsOptions;
  readonly #unsettled = new Set<LivePath | 'consensus'>([...PATHS, 'consensus']);
  readonly #slot$: Observable<Slot>;

  constructor(slot$: Observable<Slot>, options: WarmReadsOptions) {
    const { mesh, clock, refresh } = options;
    this.#options = options;
    this.#slot$ = slot$;
    const { epochMs, performanceMs, priorityFeeMs } = refresh;
    this.epoch$ = this.#keepWarm('/epoch', epochMs, {
      read: () => readEpochInfo(mesh, 'confirmed'),
      describe: ({ result }) => ({ result: describeEpoch(result, mesh.slotTimeMs, clock.now()), used: result }),
    }).pipe(share());
    this.performance$ = this.#keepWarm('/performance', performanceMs, {
      read: () => readPerformanceSamples(mesh),
      describe({ result: rows }) {
        const result = rows.map(describePerformance);
        return { result, used: result[0] ?? null };
      },
    }).pipe(startWith<Performance | null>(null));
    this.priorityFee$ = this.#keepWarm('/priority-fee', priorityFeeMs, {
      read: () => readPrioritizationFees(mesh),
      describe({ slot, result: samples }) {
        const result = describePriorityFee(samples, slot);
        return { result, used: result };
      },
    }).pipe(startWith<PriorityFee | null>(null));
    this.consensus$ = this.#readConsensus().pipe(startWith<ClusterConsensus | null>(null));
  }

  /** Reads the consensus at the start, in each epoch and once a minute, until it is Alpenglow, which no cluster leaves. */
  #readConsensus(): Observable<ClusterConsensus | null> {
    const { mesh, cache, clock, vitals } = this.#options;
    let readIn: number | undefined;
    let dueMs = Number.NEGATIVE_INFINITY;
    return this.epoch$.pipe(
      filter(({ epoch }) => vitals.consensus !== 'alpenglow' && (epoch !== readIn || clock.monotonic() >= dueMs)),
      exhaustMap(({ epoch }) => {
        readIn = epoch;
        dueMs = clock.monotonic() + CONSENSUS_MS;
        const { unagreedDrops } = cache;
        return from(readClusterConsensus(mesh)).pipe(
          map((consensus) => (unagreedDrops === cache.unagreedDrops ? consensus : null)), // else it may be a lie
          finalize(() => this.#settle('consensus')),
        );
      }),
      map((consensus) => {
        vitals.consensus = consensus ?? vitals.consensus;
        return vitals.consensus;
      }),
    );
  }

  /**
   * A failure of the read or of the publication leaves the old answer: past `catchError` it would end the pipeline. So does an
   * answer that is older than it, of a node that is behind.
   */
  #keepWarm<T, R>(path: LivePath, periodMs: number, { read, describe }: WarmRead<T, R>): Observable<R> {
    const { cache, clock, vitals, onError } = this.#options;
    let dueMs = Number.NEGATIVE_INFINITY;
    vitals.failures.set(path, 0);
    const refresher: Refresher = {
      async refresh() {
        dueMs = Number.NEGATIVE_INFINITY; // a request waits for a newer answer
      },
    };
    const onReadFailed = (cause: unknown): Observable<never> => {
      dueMs = clock.monotonic() + Math.min(RETRY_MS, periodMs);
      if (path === '/epoch') this.#settle('consensus'); // which is read with it
      if (vitals.recordFailure(path)) onError(path, cause); // not again at each retry
      return EMPTY;
    };
    const attempt$ = defer(() => {
      dueMs = clock.monotonic() + periodMs;
      return read();
    }).pipe(
      map((answer) => {
        const { slot } = answer;
        const { result, used } = describe(answer);
        const { slot: servedSlot } = putLiveAnswer(cache, path, { slot, result }, 'confirmed', refresher);
        return { used, isOlder: slot < servedSlot };
      }),
      tap(() => vitals.failingParts.delete(path)),
      filter(({ isOlder }) => !isOlder),
      map(({ used }) => used),
      catchError(onReadFailed),
      finalize(() => this.#settle(path)), // after the answer was put into the cache
    );
    return this.#slot$.pipe(
      filter(() => clock.monotonic() >= dueMs),
      exhaustMap(() => attempt$),
    );
  }

  #settle(path: LivePath | 'consensus'): void {
    if (!this.#unsettled.delete(path) || this.#unsettled.size > 0) return;
    this.settled$.next();
    this.settled$.complete();
  }
}
