import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { digestOf } from '../../src/receipt/digest.ts';
import { ReceiptError } from '../../src/receipt/receipt-error.ts';
import { type Expected, verifyReceipt } from '../../src/receipt/verify.ts';
import { CLUSTER, freshSigner, NOW_MS, seal, type Unsealed } from './sealed.ts';
import { vectors } from './vectors.ts';

const signer = freshSigner();
const answer: Unsealed = {
  request: 'GET /api/v1/search?page=2&q=caf%C3%A9',
  slot: 42,
  commitment: 'finalized',
  claim: 'exact',
  nonce: null,
  result: '{"lamports":9007199254740993,"name":"{\\"slot\\":1} ☃"}',
};
const other = { ...answer, request: 'GET /api/v1/slot', commitment: 'processed', claim: 'observed' } as const;
const [first = '', second = '', third = ''] = seal(signer, [answer, other, { ...other, nonce: 'A'.repeat(16) }]);
const [alone = ''] = seal(signer, [other]);
const expected: Expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request: answer.request };

/** The fault found in a body, or 'none'. */
function fault(body: string | Uint8Array, different: Partial<Expected> = {}): string {
  try {
    verifyReceipt(body, { ...expected, ...different });
    return 'none';
  } catch (thrown) {
    if (thrown instanceof ReceiptError) return thrown.code;
    throw thrown;
  }
}

/** The first body with one thing replaced, which must be there. */
function edited(from: string | RegExp, to: string, body = first): string {
  const result = body.replace(from, to);
  if (result === body) throw new Error(`nothing to replace: ${from}`);
  return result;
}

const sibling = /"path":\["([0-9a-f]{64})"/.exec(first)?.[1] ?? '';
const sigOf = (body: string): string => /"sig":"([0-9a-f]{128})"/.exec(body)?.[1] ?? '';

t.test('a body proves its result, slot and everything beside it', async (t) => {
  const { result, slot, receipt } = verifyReceipt(first, expected);
  t.equal(result, answer.result);
  t.equal(slot, 42);
  t.match(receipt, { commitment: 'finalized', claim: 'exact/1', issuedAt: NOW_MS, nonce: null, size: 3, index: 0 });
});

t.test('what is expected must be met', async (t) => {
  const nextKey = freshSigner().publicKey;
  t.equal(fault(first, { cluster: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }), 'cluster');
  t.equal(fault(first, { request: 'GET /api/v1/search?q=caf%C3%A9' }), 'request');
  t.equal(fault(first, { request: 'SUB /api/v1/search?q=caf%C3%A9&page=2' }), 'request');
  t.equal(fault(first, { nonce: 'A'.repeat(16) }), 'nonce', 'asked with a nonce, answered without');
  t.equal(fault(third, { request: other.request }), 'nonce', "somebody else's answer");
  t.equal(fault(third, { request: other.request, nonce: 'B'.repeat(16) }), 'nonce');
  t.equal(fault(third, { request: other.request, nonce: 'A'.repeat(16) }), 'none');
  t.equal(fault(first, { publicKeys: [nextKey] }), 'unknown-key');
  t.equal(fault(first, { publicKeys: [] }), 'unknown-key');
  t.equal(fault(first, { publicKeys: [nextKey, signer.publicKey] }), 'none');
});

t.test('a request may be spelled as one likes', async (t) => {
  for (const target of [
    '/api/v1/search?q=caf%c3%a9&page=2',
    '/api/v1/search?q=café&&page=%32#top',
    'https://gateway.example/base/api/v1/search?page=2&q=caf%C3%A9',
  ])
    t.equal(fault(first, { request: `GET ${target}` }), 'none', target);
});

t.test('a mistake of the caller is no fault of the body', async (t) => {
  const verify = (different: Partial<Expected>) => () => verifyReceipt(first, { ...expected, ...different });
  t.throws(verify({ request: '/api/v1/slot' }), TypeError);
  t.throws(verify({ request: 'POST /api/v1/rpc' }), TypeError);
  t.throws(verify({ request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
  t.throws(verify({ publicKeys: ['0OIl'] }), TypeError);
});

t.test('age is judged by the clock that is passed in', async (t) => {
  const at = (nowMs: number, maxAgeMs?: number) =>
    fault(first, { time: maxAgeMs === undefined ? { nowMs } : { nowMs, maxAgeMs } });
  t.equal(at(NOW_MS - 4_999), 'none');
  t.equal(at(NOW_MS - 5_000), 'none');
  t.equal(at(NOW_MS - 5_001), 'future');
  t.equal(at(NOW_MS + 60_000, 60_000), 'none');
  t.equal(at(NOW_MS + 60_001, 60_000), 'stale');
  t.equal(at(NOW_MS * 2), 'none', 'no limit, no age');
  t.equal(fault(first, { minSlot: 42 }), 'none');
  t.equal(fault(first, { minSlot: 43 }), 'old-slot');
});

t.test('the envelope has one form only', async (t) => {
  const bytes = Buffer.from(first);
  t.equal(fault(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])), 'envelope', 'a byte order mark');
  t.equal(fault(edited('☃', '\ud83d')), 'utf8');
  bytes[bytes.indexOf('☃')] = 0xff;
  t.equal(fault(bytes), 'utf8');
  t.equal(fault(''), 'envelope');
  t.equal(fault('null'), 'envelope');
  t.equal(fault('{}'), 'malformed');
  t.equal(fault(`${first}\n`), 'envelope');
  t.equal(fault(` ${first}`), 'envelope');
  t.equal(fault(edited('{"result":', '{"result": ')), 'digest');
  t.equal(fault(edited('{"result":', '{"result":1,"result":')), 'digest');
  t.equal(fault(edited(',"slot":42', ',"result":1,"slot":42')), 'digest');
  t.equal(fault(edited(',"slot":42', ',"slot":42,"slot":42')), 'digest');
  t.equal(fault(edited(answer.result, '')), 'envelope', 'no result at all');
  t.equal(fault(edited(`${answer.result},`, '')), 'envelope');
  t.equal(fault(edited(',"receipt":', ',"receipt":{},"receipt":')), 'envelope');
  t.equal(fault(edited(/\}$/, ',"more":1}')), 'malformed');
});

t.test('a receipt has one spelling only', async (t) => {
  for (const [from, to] of [
    ['"v":1', '"v":2'],
    ['"v":1', '"v": 1'],
    ['"v":1,', '"v":1,"v":1,'],
    [/("kid":"[^"]*"),("cluster":"[^"]*")/, '$2,$1'],
    ['"nonce":null', '"nonce":"short"'],
    [/"kid":"[^"]*"/, `"kid":"${'A'.repeat(16)}"`],
    [sigOf(first), sigOf(first).toUpperCase()],
    [/"status":200,"slot":42/, '"status":200,"slot":4.2e1'],
    [/"status":200,"slot":42/, '"status":200,"slot":042'],
    [/"status":200,"slot":42/, '"status":200,"slot":9007199254740992'],
    [/"issuedAt":\d+/, '"issuedAt":9007199254740993'],
    ['"size":3', '"size":65537'],
    ['"index":0', '"index":3'],
    [/"request":"GET [^"]*"/, '"request":"GET /api/v1/\\u0061"'],
    [/"path":\[.*\]/, `"path":["${Array(17).fill(sibling).join('","')}"]`],
  ] as const)
    t.equal(fault(edited(from, to)), 'malformed', to);
});

t.test('whatever re-encodes numbers or space breaks the proof', async (t) => {
  t.equal(fault(JSON.stringify(JSON.parse(first))), 'digest', '2^53 + 1 is lost in JSON.parse');
  t.not(fault(JSON.stringify(JSON.parse(first), null, 1)), 'none');
  t.equal(fault(edited('9007199254740993', '9007199254740992')), 'digest');
});

t.test('nothing that was signed can be changed', async (t) => {
  t.equal(fault(edited(',"slot":42,"receipt"', ',"slot":43,"receipt"')), 'envelope');
  t.equal(fault(edited('"status":200,"slot":42', '"status":200,"slot":43')), 'envelope');
  t.equal(fault(edited(/"slot":42/g, '"slot":43')), 'signature');
  t.equal(fault(edited('"status":200', '"status":404')), 'status');
  t.equal(fault(edited('"commitment":"finalized"', '"commitment":"confirmed"')), 'signature');
  t.equal(fault(edited('"exact/1"', '"exact/2"')), 'signature');
  t.equal(fault(edited(/"issuedAt":\d+/, `"issuedAt":${NOW_MS + 1}`)), 'signature');
  const upgrade = { request: other.request };
  t.equal(fault(edited('observed', 'exact', second), upgrade), 'signature');
  t.equal(fault(edited('processed', 'finalized', second), upgrade), 'signature');
  t.equal(
    fault(edited(/"request":"[^"]*"/, '"request":"GET /api/v1/epoch"'), { request: 'GET /api/v1/epoch' }),
    'signature',
  );
  const devnet = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
  t.equal(fault(edited(CLUSTER, devnet), { cluster: devnet }), 'signature');
  const nonce = 'A'.repeat(16);
  t.equal(fault(edited('"nonce":null', `"nonce":"${nonce}"`), { nonce }), 'signature');
});

t.test('a leaf has one place in one tree', async (t) => {
  t.equal(fault(edited('"index":0', '"index":1')), 'signature');
  t.equal(fault(edited('"index":0', '"index":2')), 'path');
  t.equal(fault(edited('"size":3', '"size":4')), 'signature');
  t.equal(fault(edited('"size":3', '"size":2')), 'path');
  t.equal(fault(edited(`"${sibling}",`, '')), 'path');
  t.equal(fault(edited(`"${sibling}",`, `"${sibling}","${sibling}",`)), 'path');
  t.equal(fault(edited(sibling, '0'.repeat(64))), 'signature');
  t.equal(fault(edited(sigOf(alone), sigOf(first), alone), { request: other.request }), 'signature');
});

t.test('a signature made for another purpose is none', async (t) => {
  const { body, cluster, canonicalRequest: request } = vectors.vectors[0];
  const trusted = { publicKeys: [vectors.publicKey], cluster, request };
  t.equal(fault(body, trusted), 'none');
  t.equal(fault(edited(sigOf(body), vectors.succession.sig, body), trusted), 'signature');
});

t.test('a key that could deny its signatures proves nothing, though it is trusted', async (t) => {
  const bytes = Buffer.from(ED25519_TORSION_SUBGROUP[1] ?? '', 'hex');
  const weak = edited(/"kid":"[^"]*"/, `"kid":"${digestOf(bytes).slice(0, 16)}"`);
  t.equal(fault(weak), 'unknown-key');
  t.equal(fault(weak, { publicKeys: [bs58.encode(bytes)] }), 'weak-key');
});

t.test('of several faults the first is told', async (t) => {
  const notFound = edited('"status":200', '"status":404');
  let wrong: Expected = { cluster: 'x', request: 'GET /api/v1/x', nonce: 'x', publicKeys: [], minSlot: 99 };
  const told = [fault(edited('9007199254740993', '1', notFound), wrong), fault(notFound, wrong)];
  const { cluster, request, publicKeys } = expected;
  for (const mended of [{}, { cluster }, { request }, { nonce: null }, { publicKeys }, { minSlot: 0 }]) {
    wrong = { ...wrong, ...mended };
    told.push(fault(first, wrong));
  }
  t.same(told, ['digest', 'status', 'cluster', 'request', 'nonce', 'unknown-key', 'old-slot', 'none']);
});

t.test('no single flipped bit survives', async (t) => {
  const request = { request: other.request };
  const bytes = Buffer.from(alone);
  t.equal(fault(bytes, request), 'none');
  const survivors: string[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const byte = bit >> 3;
    const flipped = Buffer.from(bytes);
    flipped[byte] = (bytes[byte] ?? 0) ^ (1 << (bit & 7));
    if (fault(flipped, request) === 'none') survivors.push(`bit ${bit}`);
  }
  t.same(survivors, [], `${bytes.length * 8} bodies`);
});

t.test('a body cut, joined or made of anything else throws nothing but a fault', async (t) => {
  const cut = fc.tuple(fc.nat({ max: first.length }), fc.nat({ max: first.length }), fc.string());
  fc.assert(
    fc.property(cut, ([from, to, between]) => {
      const body = first.slice(0, from) + between + first.slice(to);
      return body === first || fault(body) !== 'none';
    }),
    { numRuns: 2000 },
  );
  t.pass();
});
