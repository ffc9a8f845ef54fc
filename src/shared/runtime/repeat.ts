import type { Clock } from '../domain/clock.ts';

/** Counted from the end of the work before; first after `firstMs`. Work that rejects is repeated all the same. */
export function repeat(clock: Clock, ms: number, work: () => unknown, firstMs = ms): () => void {
  let isStopped = false;
  const run = (): void => {
    const result = work();
    if (result instanceof Promise) void result.catch(() => {}).then(schedule);
    else schedule();
  };
  const schedule = (): void => {
    if (!isStopped) cancel = clock.after(ms, run);
  };
  let cancel = clock.after(firstMs, run);
  return () => {
    isStopped = true;
    cancel();
  };
}
