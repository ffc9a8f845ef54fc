import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';

const [REQUESTS, WINDOW_MS] = [10, 10_000];
const LOOPBACK = Uint8Array.of(127, 0, 0, 1).buffer;

/** Requests that callers gain or lose by a jump of the wall clock. */
export interface ClockJumpEffect {
  /** Requests beyond the limit of the window in which it jumped. */
  readonly freeRequests: number;
  /** Requests missing in the next window. */
  readonly lostRequests: number;
  /** Whether the announced end of the window changed. */
  readonly isResetChanged: boolean;
}

/** Opens a window, spends half of it, and lets the wall clock jump after a delay. */
export function jumpClock(byMs: number, afterMs: number): ClockJumpEffect {
  let [wallMs, monotonicMs] = [1_700_000_000_000, 0];
  const clock = { now: () => wallMs, monotonic: () => monotonicMs, after: () => () => {} };
  const limiter = new RateLimiter(
    { free: { units: REQUESTS, windowSeconds: WINDOW_MS / 1000 }, trackedAddresses: 10 },
    clock,
  );
  const passMs = (ms: number): void => {
    wallMs += ms;
    monotonicMs += ms;
  };
  const countAllowed = (count: number): number =>
    Array.from({ length: count }, () => limiter.consume(LOOPBACK, 1).allowed).filter((allowed) => allowed).length;
  let used = countAllowed(REQUESTS / 2);
  const { reset } = { ...limiter.peek(LOOPBACK) };
  passMs(afterMs);
  wallMs += byMs;
  used += countAllowed(2 * REQUESTS);
  const isResetChanged = limiter.peek(LOOPBACK).reset !== reset;
  passMs(WINDOW_MS - 1 - afterMs);
  used += countAllowed(2 * REQUESTS);
  passMs(1);
  return { freeRequests: used - REQUESTS, lostRequests: REQUESTS - countAllowed(REQUESTS), isResetChanged };
}
