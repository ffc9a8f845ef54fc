import { Observable, repeat } from 'rxjs';
import type { Clock } from '../../shared/domain/clock.ts';

/** Emits once, `ms` milliseconds from now. */
export const timer$ = (clock: Clock, ms: number): Observable<void> =>
  new Observable((out) =>
    clock.after(ms, () => {
      out.next();
      out.complete();
    }),
  );

/** Emits every `ms` milliseconds. */
export const interval$ = (clock: Clock, ms: number): Observable<void> => timer$(clock, ms).pipe(repeat());
