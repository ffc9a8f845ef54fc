import fc from 'fast-check';
import t from 'tap';
import { canonicalRequest, parseTarget } from '../../../src/domain/canonical-request.ts';

const canonical = (target: string): string => parseTarget(target).canonical;

t.test('a path is kept verbatim from the first /api/v1 on', async (t) => {
  for (const [target, path] of [
    ['/api/v1/slot', '/api/v1/slot'],
    ['/api/v1/balance/A-b.c_d~9', '/api/v1/balance/A-b.c_d~9'],
    ['/base/api/v1/slot', '/api/v1/slot'],
    ['https://gateway.example:8787/api/v1/slot', '/api/v1/slot'],
    ['/api/v1/x/api/v1/y', '/api/v1/x/api/v1/y'],
    ['/api/v1/slot#fragment?a=1', '/api/v1/slot'],
    ['/api/v1/slot?', '/api/v1/slot'],
    ['/api/v1/slot?&&', '/api/v1/slot'],
  ] as const)
    t.equal(canonical(target), path, target);
});

t.test('the method is separated by a space', async (t) => {
  t.equal(canonicalRequest('GET', '/api/v1/slot'), 'GET /api/v1/slot');
  t.equal(canonicalRequest('SUB', '/api/v1/stream?receipts=1'), 'SUB /api/v1/stream?receipts=1');
});

t.test('a path outside the grammar leads to no route', async (t) => {
  for (const target of [
    '',
    '/',
    'api/v1',
    '/api/v1/',
    '/api/v1//slot',
    '/api/v1/%73lot',
    '/api/v1/slot/',
    '/api/v1/a b',
    '/api/v1/é',
    '/api/v1/a;b',
    '*',
  ])
    t.throws(() => parseTarget(target), { code: 'route_not_found' }, JSON.stringify(target));
});

t.test('every query has one canonical spelling', async (t) => {
  for (const [query, spelling] of [
    ['b=2&a=1', 'a=1&b=2'],
    ['ab=2&a=1', 'a=1&ab=2'],
    ['a', 'a='],
    ['a=', 'a='],
    ['a==b', 'a=%3Db'],
    ['a=b?c', 'a=b%3Fc'],
    ['a=1+2', 'a=1%202'],
    ['a=1%2B2', 'a=1%2B2'],
    ['%61=%62', 'a=b'],
    ['a=%7e%2d', 'a=~-'],
    ['a=%c3%a9', 'a=%C3%A9'],
    ['a=é', 'a=%C3%A9'],
    ["a=!'()*", 'a=%21%27%28%29%2A'],
    ['a=%00', 'a=%00'],
    ['a=%EF%BB%BF', 'a=%EF%BB%BF'],
    ['a=1;b=2', 'a=1%3Bb%3D2'],
    ['a=1&B=2', 'B=2&a=1'],
    ['%F0%90%80%80=1&%EF%BF%BF=2', '%EF%BF%BF=2&%F0%90%80%80=1'],
  ] as const)
    t.equal(canonical(`/api/v1/x?${query}`), `/api/v1/x?${spelling}`, query);
});

t.test('an ambiguous query is rejected', async (t) => {
  for (const query of [
    'a=%',
    'a=%4',
    'a=%zz',
    'a=%+1',
    'a=%ff',
    'a=%C3',
    'a=%ED%A0%80',
    'a=1&a=1',
    'a=1&a=2',
    'a=1&b=2&%61=3',
    '=1',
    '&=',
    '%=1',
  ])
    t.throws(() => parseTarget(`/api/v1/x?${query}`), { code: 'invalid_query' }, query);
});

t.test('a request is at most 2,045 bytes long, counted as it is signed', async (t) => {
  const long = (bytes: number): string => `/api/v1/x?a=${'b'.repeat(bytes - 'GET /api/v1/x?a='.length)}`;
  t.equal(canonicalRequest('GET', long(2045)).length, 2045);
  t.throws(() => parseTarget(long(2046)), { code: 'uri_too_long' });
  t.throws(() => parseTarget(`/api/v1/x?a=${'é'.repeat(400)}`), { code: 'uri_too_long' });
  t.equal(canonical(`/api/v1/x?a=${'%61'.repeat(1000)}`).length, 1012, 'a long spelling of a short request');
});

/** Returns one of the many spellings of a text in a query, chosen by `choices`. */
function spell(text: string, choices: () => number): string {
  let spelled = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    const hex = byte.toString(16).padStart(2, '0');
    if (/[\w.~!*-]/.test(character) && choices() % 2 === 0) spelled += character;
    else if (character === ' ' && choices() % 2 === 0) spelled += '+';
    else spelled += `%${choices() % 2 === 0 ? hex : hex.toUpperCase()}`;
  }
  return spelled;
}

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
const parameters = fc.uniqueArray(fc.tuple(word, word), { selector: ([name]) => name, maxLength: 5 });

t.test('all spellings and orders of a query give the same request', async (t) => {
  fc.assert(
    fc.property(parameters, fc.infiniteStream(fc.nat()), (pairs, stream) => {
      const choices = (): number => stream.next().value;
      const query = pairs.map(([name, value]) => `${spell(name, choices)}=${spell(value, choices)}`);
      const shuffled = query.map((piece) => [choices(), piece] as const).sort(([a], [b]) => a - b);
      const target = `/api/v1/x?${shuffled.map(([, piece]) => piece).join('&')}`;
      const sorted = [...pairs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      t.same(parseTarget(target).query, sorted);
      return canonical(target) === canonical(`/api/v1/x?${query.join('&')}`);
    }),
  );
});

t.test('the canonical spelling of a canonical request is itself, and follows the grammar of receipts', async (t) => {
  fc.assert(
    fc.property(parameters, (pairs) => {
      const target = `/api/v1/x?${new URLSearchParams(pairs)}`;
      const request = canonicalRequest('GET', target);
      return request === canonicalRequest('GET', request.slice(4)) && /^GET \/[A-Za-z0-9._~%?&=/-]*$/.test(request);
    }),
  );
  t.pass();
});
