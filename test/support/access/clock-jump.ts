import { RateLimiter } from '../../../src/access/limits/rate-limiter.ts';

const [REQUESTS, WINDOW_MS] = [10, 10_000];
const HOME = Uint8Array.of(127, 0, 0, 1).buffer;

/** What callers win or lose by a jump of the wall clock. */
export interface Jumped {
  /** Requests beyond the limit of the window in which it jumped. */
  readonly free: number;
  /** Requests too few in the one behind it. */
  readonly lost: number;
  /** Whether the moment at which the window ends was told anew. */
  readonly retold: boolean;
}

/** Lets the wall clock jump so far, so long after a window has opened of which half is spent. */
export function jump(byMs: number, afterMs: number): Jumped {
  let [wallMs, monotonicMs] = [1_700_000_000_000, 0];
  const clock = { now: () => wallMs, monotonic: () => monotonicMs, after: () => () => {} };
  const limiter = new RateLimiter(
    { free: { requests: REQUESTS, windowSeconds: WINDOW_MS / 1000 }, identities: 10 },
    clock,
  );
  const pass = (ms: number): void => {
    wallMs += ms;
    monotonicMs += ms;
  };
  const admitted = (asked: number): number =>
    Array.from({ length: asked }, () => limiter.consume(HOME, 1).allowed).filter((allowed) => allowed).length;
  let used = admitted(REQUESTS / 2);
  const { reset } = { ...limiter.peek(HOME) };
  pass(afterMs);
  wallMs += byMs;
  used += admitted(2 * REQUESTS);
  const retold = limiter.peek(HOME).reset !== reset;
  pass(WINDOW_MS - 1 - afterMs);
  used += admitted(2 * REQUESTS);
  pass(1);
  return { free: used - REQUESTS, lost: REQUESTS - admitted(REQUESTS), retold };
}
