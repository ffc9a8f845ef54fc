import { Observable } from 'rxjs';
import type { Clock } from '../domain/clock.ts';

/** Emits once, `ms` milliseconds from now. */
export const after$ = (clock: Clock, ms: number): Observable<void> =>
  new Observable((out) =>
    clock.after(ms, () => {
      out.next();
      out.complete();
    }),
  );

/** Emits every `ms` milliseconds. */
export const every$ = (clock: Clock, ms: number): Observable<void> =>
  new Observable((out) => {
    let stop = (): void => {};
    const arm = (): void => {
      stop = clock.after(ms, () => {
        arm();
        out.next();
      });
    };
    arm();
    return () => stop();
  });
