import type { Clock } from '../domain/clock.ts';

/**
 * Does `work` every `ms` milliseconds, counted from the end of the work before, until the returned function is called.
 * Work that rejects is repeated all the same.
 */
export function repeat(clock: Clock, ms: number, work: () => unknown): () => void {
  let isStopped = false;
  let cancel = (): void => {};
  const schedule = (): void => {
    if (!isStopped) cancel = clock.after(ms, run);
  };
  const run = (): void => {
    const result = work();
    if (result instanceof Promise) result.then(schedule, schedule);
    else schedule();
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
}
