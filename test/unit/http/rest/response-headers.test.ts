import fc from 'fast-check';
import t from 'tap';
import { formatHeaders, HeaderTemplate, PREFLIGHT_HEADERS } from '../../../../src/http/rest/response-headers.ts';

const number = fc.nat(80_000_000); // the largest limit that the configuration admits, for a /48
const reset = fc.integer({ min: 1_000_000_000, max: 9_999_999_999 });
const quota = fc.record({ allowed: fc.constant(true), limit: number, remaining: number, reset, retryAfter: number });

/** Returns headers without the request id, which differs in each response. */
const lines = (text: string): string => text.replace(/X-Request-Id: [0-9a-f]{16}/, 'X-Request-Id: …');

t.test('headers filled in place equal formatted headers, whatever was filled before', async () => {
  const hitHead = new HeaderTemplate('no-cache', 'br');
  fc.assert(
    fc.property(
      quota,
      fc.maxSafeNat(),
      fc.constantFrom('', '0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)),
      (quota, slot, digest) => {
        const written = formatHeaders(200, quota, [
          ['X-Slot', String(slot)],
          ['X-Cache', 'HIT'],
          ['Cache-Control', 'no-cache'],
          ...(digest === '' ? [] : [['ETag', `W/"${digest.slice(0, 16)}"`] as const]),
          ['Content-Encoding', 'br'],
        ]);
        return lines(hitHead.fill(quota, { slot, digest }).toString('latin1')) === lines(written.text);
      },
    ),
    { numRuns: 1000 },
  );
});

t.test('each response has a unique request id', async (t) => {
  const hitHead = new HeaderTemplate('no-cache');
  const some = { allowed: true, limit: 100, remaining: 9, reset: 1_700_000_000, retryAfter: 1 };
  const ids = Array.from(
    { length: 1000 },
    () =>
      hitHead
        .fill(some, { slot: 1, digest: '' })
        .toString()
        .match(/Request-Id: (\w+)/)?.[1],
  );
  ids.push(formatHeaders(404, some, []).requestId);
  t.equal(new Set(ids).size, 1001);
});

t.test('headers have the reason phrase, and those of a preflight', async (t) => {
  const some = { allowed: false, limit: 1, remaining: 0, reset: 2, retryAfter: 3 };
  t.match(formatHeaders(429, some, []).text, /^429 Too Many Requests\r\n/);
  t.match(formatHeaders(204, some, PREFLIGHT_HEADERS).text, 'Access-Control-Max-Age: 86400');
});
