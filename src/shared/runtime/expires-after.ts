import type { Clock } from '../domain/clock.ts';

/** Returns the options by which the entries of an LRU cache expire after `ttl` milliseconds of a clock. */
export const expiresAfter = (ttl: number, clock: Pick<Clock, 'monotonic'>) => ({
  ttl,
  ttlResolution: 0, // else it would read the time with a timer of its own
  perf: { now: () => clock.monotonic() },
});
