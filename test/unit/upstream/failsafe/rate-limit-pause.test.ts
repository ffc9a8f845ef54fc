import t from 'tap';
import { rateLimitPauseSeconds } from '../../../../src/upstream/failsafe/rate-limit-pause.ts';

const NOW_MS = Date.UTC(2026, 10, 24);

t.test('a pause is that of Retry-After, one second without it, and thirty at most', async (t) => {
  const pauses: readonly (readonly [retryAfter: string | undefined, seconds: number])[] = [
    [undefined, 1],
    ['0', 1],
    ['7', 7],
    [new Date(NOW_MS + 7000).toUTCString(), 7],
    ['60', 30],
    ['86400', 30],
    ['Thu, 01 Jan 2099 00:00:00 GMT', 30],
    ['99999999999999999999999', 30],
    ['garbage', 1],
    ['-5', 1],
    ['1e9', 1],
  ];
  for (const [retryAfter, seconds] of pauses)
    t.equal(rateLimitPauseSeconds(retryAfter, NOW_MS), seconds, String(retryAfter));
});
