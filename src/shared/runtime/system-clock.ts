import type { Clock } from '../domain/clock.ts';

/** The longest delay of a timer, in milliseconds: with a longer one it fires after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    if (ms > MAX_TIMER_MS) {
      let cancel = systemClock.after(MAX_TIMER_MS, () => {
        cancel = systemClock.after(ms - MAX_TIMER_MS, work);
      });
      return () => cancel();
    }
    const timer = setTimeout(work, Math.max(0, ms)); // Node warns of a negative one
    return () => clearTimeout(timer);
  },
};
