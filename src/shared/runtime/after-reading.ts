import type { Clock } from '../domain/clock.ts';

/** How late a timer shows that this process stood still, in milliseconds. */
const STALL_MS = 100;

/**
 * Calls `work` after a time; returns what cancels it. Timers run before what has arrived is read: after a stall of this process,
 * such as a pause of a virtual machine, it waits a moment longer.
 */
export function afterReading(clock: Clock, ms: number, work: () => void): () => void {
  const dueMs = clock.monotonic() + ms;
  let cancel = clock.after(ms, () => {
    if (clock.monotonic() - dueMs < STALL_MS) work();
    else cancel = clock.after(STALL_MS, work);
  });
  return () => cancel();
}
