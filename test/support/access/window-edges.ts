import { type Quota, RateLimiter } from '../../../src/access/limits/rate-limiter.ts';
import { ManualClock } from '../manual-clock.ts';

const START_MS = 1_700_000_000_000;
const [REQUESTS, WINDOW_SECONDS] = [100, 10];
const HOME = Uint8Array.of(127, 0, 0, 1).buffer;

/**
 * What is not as it was told of a window that opens so many milliseconds behind a whole second, asked for twice of what
 * it has, a millisecond before its end, at its end, and a millisecond behind that.
 */
export function edgeFaults(offsetMs: number): readonly string[] {
  const clock = new ManualClock(START_MS + offsetMs);
  const limiter = new RateLimiter(
    { free: { requests: REQUESTS, windowSeconds: WINDOW_SECONDS }, identities: 10 },
    clock,
  );
  const faults: string[] = [];
  const holds = (when: string, got: Quota, wanted: Partial<Quota>): void => {
    if (JSON.stringify({ ...got, ...wanted }) === JSON.stringify(got)) return;
    faults.push(`${offsetMs} ms, ${when}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
  };
  const spend = (): void => {
    const reset = Math.ceil(clock.now() / 1000 + WINDOW_SECONDS);
    const quota = { limit: REQUESTS, reset, retryAfter: WINDOW_SECONDS };
    for (let left = REQUESTS - 1; left >= 0; left--)
      holds('within', limiter.consume(HOME, 1), { ...quota, allowed: true, remaining: left });
    for (let more = 0; more < REQUESTS; more++)
      holds('spent', limiter.consume(HOME, 1), { ...quota, allowed: false, remaining: 0 });
  };
  const refused = { limit: REQUESTS, remaining: 0, allowed: false };
  spend();
  const reset = Math.ceil(clock.now() / 1000 + WINDOW_SECONDS);
  clock.advance(WINDOW_SECONDS * 1000 - 1);
  holds('a millisecond before', limiter.consume(HOME, 1), { ...refused, reset, retryAfter: 1 });
  clock.advance(1);
  holds('at the end', limiter.peek(HOME), { allowed: true, limit: REQUESTS, remaining: REQUESTS });
  spend();
  clock.advance(1);
  holds('a millisecond behind', limiter.consume(HOME, 1), refused);
  return faults;
}
