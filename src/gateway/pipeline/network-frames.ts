import {
  map,
  merge,
  Observable,
  type OperatorFunction,
  repeat,
  skipUntil,
  switchMap,
  throttle,
  withLatestFrom,
} from 'rxjs';
import type { Clock } from '../../shared/domain/clock.ts';
import type { EpochInfo } from '../../shared/domain/epoch-info.ts';
import { describeNetwork, type NetworkSnapshot } from '../../shared/domain/network-snapshot.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Cache } from '../cache/cache.ts';
import type { Entry } from '../cache/entry.ts';
import { type AttemptOptions, attempt } from './attempt.ts';
import { putLiveAnswer } from './live-answer.ts';
import type { WarmReads } from './warm-reads.ts';

export interface NetworkFramesOptions extends AttemptOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  /** The id of this process' stream: another one shows a restart. */
  readonly streamId: string;
  /** The shortest time between two frames, in milliseconds. */
  readonly throttleMs: number;
  /** The time without a slot after which the last frame is repeated, in milliseconds, so that silence is unambiguous. */
  readonly repeatAfterMs: number;
  readonly isHealthy: () => boolean;
  /** Called with each new frame of the network stream, and the epoch that it was made from. */
  readonly onFrame: (frame: Entry, snapshot: NetworkSnapshot, epoch: EpochInfo) => void;
}

/** The first frame waits until all its parts were requested, and for no further slot. Silence repeats the last one. */
export function networkFrames$(
  slot$: Observable<Slot>,
  { epoch$, performance$, priorityFee$, consensus$, settled$ }: WarmReads,
  options: NetworkFramesOptions,
): Observable<unknown> {
  const { cache, clock } = options;
  let seq = 0;
  const publishedSlot$ = slot$.pipe(
    attempt('/slot', (slot) => void putLiveAnswer(cache, '/slot', { slot, result: slot }, 'processed'), options),
  );
  const repeatedSlot$ = slot$.pipe(switchMap((slot) => interval$(clock, options.repeatAfterMs).pipe(map(() => slot))));
  const firstSlot$ = settled$.pipe(
    withLatestFrom(slot$),
    map(([, slot]) => slot),
  );
  const frameSlot$ = merge(publishedSlot$.pipe(skipUntil(settled$)), firstSlot$);
  return merge(frameSlot$.pipe(throttled$(clock, options.throttleMs)), repeatedSlot$).pipe(
    withLatestFrom(epoch$, performance$, priorityFee$, consensus$),
    attempt(
      '/network',
      ([slot, epoch, performance, priorityFee, consensus]) => {
        const health = options.isHealthy() ? 'ok' : 'degraded';
        const snapshot = describeNetwork(
          { slot, epoch, performance, priorityFee, consensus, health },
          { seq: seq++, stream: options.streamId, updatedAt: clock.now() },
        );
        options.onFrame(putLiveAnswer(cache, '/network', { slot, result: snapshot }, 'processed'), snapshot, epoch);
      },
      options,
    ),
  );
}

/** Emits the first value immediately and the newest at the end of each window, so that no change waits without need. */
const throttled$ = <T>(clock: Clock, ms: number): OperatorFunction<T, T> =>
  throttle(() => timer$(clock, ms), { leading: true, trailing: true });

export const timer$ = (clock: Clock, ms: number): Observable<void> =>
  new Observable((out) =>
    clock.after(ms, () => {
      out.next();
      out.complete();
    }),
  );

export const interval$ = (clock: Clock, ms: number): Observable<void> => timer$(clock, ms).pipe(repeat());
