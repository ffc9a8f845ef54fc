import type { Clock } from '../domain/clock.ts';

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** The same, whose monotonic time is that of all processes of the machine: it goes on over their ends. */
export const machineClock: Clock = {
  ...systemClock,
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
};
