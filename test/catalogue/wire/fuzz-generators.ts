import fc from 'fast-check';
import { routes } from '../../../src/gateway/routes/index.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { CALL, chunks } from './http/raw-request.ts';

// Generators of fuzzed input. Each batch depends on its seed alone, so that it can be repeated.

const ADDRESS = 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.constantFrom('', '0', '-1', '1', '18446744073709551616', '1e9', 'NaN', 'null', 'true', '[]', '{}', '%00', '%zz'),
  fc.constantFrom('../../..', '%2e%2e%2f', "'--", '$(id)', '\u202e', 'http://127.0.0.1/', 'constructor', '__proto__'),
  fc.constantFrom(ADDRESS, ADDRESS.slice(1), `${ADDRESS}1`, 'confirmed', 'finalized', '1', '20', 'transfers', 'a.sol'),
);
const encoded = fc.oneof(text.map(encodeURIComponent), text.map(escapeTarget));

/** Percent-encodes what may not stand in a target. */
function escapeTarget(value: string): string {
  return value.replace(/[^\x21-\x22\x24-\x7e]/gu, (char) => encodeURIComponent(char));
}

const NAMES = ['commitment', 'mint', 'page', 'before', 'limit', 'type', 'enhanced', 'q', 'kid', 'x', 'format'];
const query = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), encoded), { maxLength: 3 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`));

/** A target of an existing route with arbitrary values for its parameters. */
export const target = fc
  .tuple(fc.constantFrom(...routes.map(({ path }) => path), '/stream', '/no/such'), encoded, query)
  .map(([path, value, query]) => `/api/v1${path.replace(/:\w+/g, () => value.replaceAll('/', '%2F'))}${query}`);

const header = fc.tuple(
  fc.constantFrom(
    ...['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Expect', 'X-Api-Key', 'X-Min-Slot'],
    ...['X-Receipt-Nonce', 'If-None-Match', 'Accept-Encoding', 'X-Forwarded-For', 'Sec-WebSocket-Key', 'X-Other', ''],
  ),
  fc.oneof(
    fc.constantFrom('', '0', '5', '20', '-1', '99999999999', 'chunked', 'close', 'keep-alive', 'websocket', '*'),
    fc.constantFrom('100-continue', 'gzip, br', '1.2.3.4', 'a, b', 'AAAAAAAAAAAAAAAAAAAAAA'),
    fc.string({ maxLength: 20 }),
  ),
);

const wellFormed = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE'),
    target,
    headers: fc.array(header, { maxLength: 4 }),
    body: fc.oneof(fc.constant(''), fc.constant(CALL), fc.constant(chunks(CALL)), fc.json({ maxDepth: 3 })),
  })
  .map(({ method, target, headers, body }) => {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n${body}`);
  });

/** A well-formed request with some bytes changed or removed. */
const mutated = fc
  .tuple(wellFormed, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 4 }), fc.nat(400))
  .map(([bytes, changes, cut]) => {
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return cut < bytes.length ? bytes.subarray(0, cut) : bytes;
  });

export const packet = fc.oneof(
  { weight: 4, arbitrary: wellFormed },
  { weight: 4, arbitrary: mutated },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
);

/** Generates `count` values in batches, each with its own seed. */
export function* batches<T>(arbitrary: fc.Arbitrary<T>, seed: number, count: number): Generator<T> {
  const SIZE = 500;
  for (let made = 0; made < count; made += SIZE) {
    yield* fc.sample(arbitrary, { seed: seed + made, numRuns: Math.min(SIZE, count - made) });
  }
}
