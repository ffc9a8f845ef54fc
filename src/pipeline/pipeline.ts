import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  map,
  merge,
  Observable,
  type OperatorFunction,
  scan,
  share,
  startWith,
  switchMap,
  tap,
  throttle,
  withLatestFrom,
} from 'rxjs';
import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry } from '../cache/entry.ts';
import type { Answer } from '../domain/answer.ts';
import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import { describeEpoch } from '../domain/epoch-info.ts';
import { describeNetwork, type NetworkSnapshot } from '../domain/network-snapshot.ts';
import { describePerformance } from '../domain/performance-sample.ts';
import { describePriorityFee } from '../domain/priority-fee-estimate.ts';
import { SLOT_MS, type Slot } from '../domain/slot.ts';
import { toJson } from '../domain/to-json.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { readEpochInfo, readPerformanceSamples, readPrioritizationFees } from '../upstream/reads/network-statistics.ts';
import { interval$, timer$ } from './clock-timers.ts';

export interface PipelineOptions {
  readonly mesh: Mesh;
  readonly cache: Cache;
  readonly clock: Clock;
  /** Names this process's stream, so that a restart can be seen. */
  readonly streamId: string;
  /** How often each part is read anew, in milliseconds. */
  readonly refresh: { readonly epochMs: number; readonly performanceMs: number; readonly priorityFeeMs: number };
  /** Frames are at least this far apart. */
  readonly throttleMs: number;
  /** Without a slot for this long a frame goes out all the same, so that silence is never ambiguous. */
  readonly silenceMs: number;
  readonly isHealthy: () => boolean;
  /** Called with each new frame of the network stream. */
  readonly onFrame: (frame: Entry, snapshot: NetworkSnapshot) => void;
  /** Called when a read fails; the old answer goes on. */
  readonly onError: (part: string, cause: unknown) => void;
}

export interface Pipeline {
  readonly failingParts: ReadonlySet<string>;
  readonly slotTimeMs: number;
  close(): void;
}

/** How often the cache is told that time passes. */
const CACHE_TICK_MS = 250;

/** A part whose read failed is tried again this soon. */
const RETRY_MS = 1000;

/** Keeps the cache warm until it is closed. */
export function startPipeline(options: PipelineOptions): Pipeline {
  const { mesh, cache, clock, refresh } = options;
  const failingParts = new Set<string>();
  let slotTimeMs: number = SLOT_MS;
  let seq = 0;

  const putAnswer = (part: string, { slot, result }: Answer<unknown>, commitment: Commitment): Entry => {
    const meta: AnswerMeta = { envelope: part === '/network' ? 'anchored' : 'signed', commitment, exact: false };
    return cache.put(API_PREFIX + part, { slot, result: toJson(result) }, 'live', meta);
  };

  const tip$ = new Observable<Slot>((out) => mesh.onTip('processed', (slot) => out.next(slot))).pipe(
    scan((tip, slot) => Math.max(tip, slot), 0),
    distinctUntilChanged(),
    tap((slot) => cache.advanceTip(slot)),
    share(),
  );

  /** Reads again as slots come, at most once a period and one read at a time. A failed read keeps the old answer. */
  const keepWarm = <T>(part: string, periodMs: number, read: () => Promise<T>): Observable<T> => {
    let dueMs = Number.NEGATIVE_INFINITY;
    const onReadFailed = (cause: unknown): Observable<never> => {
      dueMs = clock.monotonic() + Math.min(RETRY_MS, periodMs);
      failingParts.add(part);
      options.onError(part, cause);
      return EMPTY;
    };
    const attempt$ = defer(() => {
      dueMs = clock.monotonic() + periodMs;
      return read();
    }).pipe(
      tap(() => failingParts.delete(part)),
      catchError(onReadFailed),
    );
    return tip$.pipe(
      filter(() => clock.monotonic() >= dueMs),
      exhaustMap(() => attempt$),
    );
  };

  const slot$ = tip$.pipe(tap((slot) => putAnswer('/slot', { slot, result: slot }, 'processed')));

  const epoch$ = keepWarm('/epoch', refresh.epochMs, () => readEpochInfo(mesh, 'confirmed')).pipe(
    tap(({ slot, result }) => {
      putAnswer('/epoch', { slot, result: describeEpoch(result, slotTimeMs, clock.now()) }, 'confirmed');
    }),
    map(({ result }) => result),
  );

  const performance$ = keepWarm('/performance', refresh.performanceMs, () => readPerformanceSamples(mesh)).pipe(
    map(({ slot, result }) => ({ slot, result: result.map(describePerformance) })),
    tap((answer) => {
      slotTimeMs = answer.result[0]?.slotTimeMs ?? SLOT_MS;
      putAnswer('/performance', answer, 'confirmed');
    }),
    map(({ result }) => result[0] ?? null),
    startWith(null),
  );

  const priorityFee$ = keepWarm('/priority-fee', refresh.priorityFeeMs, () => readPrioritizationFees(mesh)).pipe(
    map(({ slot, result }) => ({ slot, result: describePriorityFee(result, slot) })),
    tap((answer) => putAnswer('/priority-fee', answer, 'confirmed')),
    map(({ result }) => result),
    startWith(null),
  );

  /** What was read during the last slot is read again before somebody has to wait for it. */
  const refreshHot$ = tip$.pipe(tap(() => cache.refreshHot()));

  const repeatedTip$ = tip$.pipe(switchMap((slot) => interval$(clock, options.silenceMs).pipe(map(() => slot))));

  const network$ = merge(slot$.pipe(throttled$(clock, options.throttleMs)), repeatedTip$).pipe(
    withLatestFrom(epoch$, performance$, priorityFee$),
    tap(([slot, epoch, performance, priorityFee]) => {
      const health = options.isHealthy() ? 'ok' : 'degraded';
      const snapshot = describeNetwork(
        { slot, epoch, performance, priorityFee, health },
        { seq: seq++, stream: options.streamId, updatedAt: clock.now() },
      );
      options.onFrame(putAnswer('/network', { slot, result: snapshot }, 'processed'), snapshot);
    }),
  );

  const cacheTicks$ = interval$(clock, CACHE_TICK_MS).pipe(tap(() => cache.tick()));

  const subscription = merge(network$, refreshHot$, cacheTicks$).subscribe();
  return {
    failingParts,
    get slotTimeMs() {
      return slotTimeMs;
    },
    close: () => subscription.unsubscribe(),
  };
}

/** The first at once, the newest at the end of the window: a change never waits without need. */
const throttled$ = <T>(clock: Clock, ms: number): OperatorFunction<T, T> =>
  throttle(() => timer$(clock, ms), { leading: true, trailing: true });
