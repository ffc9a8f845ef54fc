import t from 'tap';
import { parseRetryAfterMs } from '../../../src/runtime/retry-after.ts';

const NOW = Date.UTC(2026, 0, 1);

t.test('Retry-After is seconds or a date; anything else is none', async (t) => {
  t.equal(parseRetryAfterMs('7', NOW), 7000);
  t.equal(parseRetryAfterMs(' 7 ', NOW), 7000);
  t.equal(parseRetryAfterMs('Thu, 01 Jan 2026 00:00:09 GMT', NOW), 9000);
  t.equal(parseRetryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', NOW), 0);
  for (const header of [null, '', 'soon', '-1s']) t.equal(parseRetryAfterMs(header, NOW), null, String(header));
});
