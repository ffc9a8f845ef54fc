import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';
import type { Quota } from '../../../src/gateway/access/quota/quota-window.ts';
import { ManualClock } from '../manual-clock.ts';

const START_MS = 1_700_000_000_000;
const [REQUESTS, WINDOW_SECONDS] = [100, 10];
const LOOPBACK = Uint8Array.of(127, 0, 0, 1).buffer;

/**
 * Returns the faults of a window that opens a number of milliseconds after a whole second and gets twice its requests a
 * millisecond before its end, at its end, and a millisecond after it.
 */
export function windowEdgeFaults(offsetMs: number): readonly string[] {
  const clock = new ManualClock(START_MS + offsetMs);
  const limiter = new RateLimiter(
    { free: { units: REQUESTS, windowSeconds: WINDOW_SECONDS }, trackedAddresses: 10 },
    clock,
  );
  const faults: string[] = [];
  const expect = (when: string, got: Quota, wanted: Partial<Quota>): void => {
    if (JSON.stringify({ ...got, ...wanted }) === JSON.stringify(got)) return;
    faults.push(`${offsetMs} ms, ${when}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
  };
  const exhaust = (): void => {
    const reset = Math.ceil(clock.now() / 1000 + WINDOW_SECONDS);
    const quota = { limit: REQUESTS, reset, retryAfter: WINDOW_SECONDS };
    for (let left = REQUESTS - 1; left >= 0; left--)
      expect('within', limiter.consume(LOOPBACK, 1), { ...quota, allowed: true, remaining: left });
    for (let more = 0; more < REQUESTS; more++)
      expect('spent', limiter.consume(LOOPBACK, 1), { ...quota, allowed: false, remaining: 0 });
  };
  const refused = { limit: REQUESTS, remaining: 0, allowed: false };
  exhaust();
  const reset = Math.ceil(clock.now() / 1000 + WINDOW_SECONDS);
  clock.advance(WINDOW_SECONDS * 1000 - 1);
  expect('a millisecond before', limiter.consume(LOOPBACK, 1), { ...refused, reset, retryAfter: 1 });
  clock.advance(1);
  expect('at the end', limiter.peek(LOOPBACK), { allowed: true, limit: REQUESTS, remaining: REQUESTS });
  exhaust();
  clock.advance(1);
  expect('a millisecond behind', limiter.consume(LOOPBACK, 1), refused);
  return faults;
}
