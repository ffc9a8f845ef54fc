import fc from 'fast-check';
import t from 'tap';
import { type Expected, verifyReceipt } from '../../../../src/receipts/verify/verify-receipt.ts';
import {
  CLUSTER,
  NOW_MS,
  newSigner,
  sealAnswers,
  type UnsealedAnswer,
} from '../../../support/receipts/sealed-answers.ts';
import { replaceOnce, verificationOutcome } from '../verification-outcome.ts';

const signer = newSigner();
const answer: UnsealedAnswer = {
  request: 'GET /api/v1/search?page=2&q=caf%C3%A9',
  slot: 42,
  commitment: 'finalized',
  claim: 'exact',
  nonce: null,
  result: '{"lamports":9007199254740993,"name":"{\\"slot\\":1} ☃"}',
};
const other = { ...answer, request: 'GET /api/v1/slot', commitment: 'processed', claim: 'observed' } as const;
const [first = '', bound = ''] = sealAnswers(signer, [answer, { ...other, nonce: 'A'.repeat(16) }]);
const expected: Expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request: answer.request };

const fault = (body: string | Uint8Array, different: Partial<Expected> = {}): string =>
  verificationOutcome(verifyReceipt, body, { ...expected, ...different });

t.test('a body proves its result, slot and all other members', async (t) => {
  const { result, slot, receipt } = verifyReceipt(first, expected);
  t.equal(result, answer.result);
  t.equal(slot, 42);
  t.match(receipt, { commitment: 'finalized', claim: 'exact/1', issuedAt: NOW_MS, nonce: null, size: 2, index: 0 });
});

t.test('every expectation must be met', async (t) => {
  const nextKey = newSigner().publicKey;
  const cluster = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
  t.equal(fault(first, { cluster }), 'cluster');
  t.throws(() => verifyReceipt(first, { ...expected, cluster }), {
    message: `the receipt is not valid: cluster (the answer is about the cluster ${CLUSTER}, not ${cluster})`,
  });
  t.equal(fault(first, { request: 'GET /api/v1/search?q=caf%C3%A9' }), 'request');
  t.equal(fault(first, { request: 'SUB /api/v1/search?q=caf%C3%A9&page=2' }), 'request');
  t.equal(fault(first, { nonce: 'A'.repeat(16) }), 'nonce', 'asked with a nonce, answered without');
  t.equal(fault(bound, { request: other.request }), 'nonce', "somebody else's answer");
  t.equal(fault(bound, { request: other.request, nonce: 'B'.repeat(16) }), 'nonce');
  t.equal(fault(bound, { request: other.request, nonce: 'A'.repeat(16) }), 'holds');
  t.equal(fault(first, { publicKeys: [nextKey] }), 'unknown-key');
  t.equal(fault(first, { publicKeys: [] }), 'unknown-key');
  t.equal(fault(first, { publicKeys: [nextKey, signer.publicKey] }), 'holds');
});

t.test('a request may be spelled in any equivalent way', async (t) => {
  for (const target of [
    '/api/v1/search?q=caf%c3%a9&page=2',
    '/api/v1/search?q=café&&page=%32#top',
    'https://gateway.example/base/api/v1/search?page=2&q=caf%C3%A9',
  ])
    t.equal(fault(first, { request: `GET ${target}` }), 'holds', target);
});

t.test('an invalid argument is no fault of the body', async (t) => {
  const verify = (different: Partial<Expected>) => () => verifyReceipt(first, { ...expected, ...different });
  t.throws(verify({ request: '/api/v1/slot' }), TypeError);
  t.throws(verify({ request: 'POST /api/v1/rpc' }), TypeError);
  t.throws(verify({ request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
  t.throws(verify({ publicKeys: ['0OIl'] }), TypeError);
});

t.test('age is checked by the time that is passed in', async (t) => {
  const at = (nowMs: number, maxAgeMs?: number) =>
    fault(first, { time: maxAgeMs === undefined ? { nowMs } : { nowMs, maxAgeMs } });
  t.equal(at(NOW_MS - 4_999), 'holds');
  t.equal(at(NOW_MS - 5_000), 'holds');
  t.equal(at(NOW_MS - 5_001), 'future');
  t.equal(at(NOW_MS + 60_000, 60_000), 'holds');
  t.equal(at(NOW_MS + 60_001, 60_000), 'stale');
  t.equal(at(NOW_MS * 2), 'holds', 'no limit, no age');
  t.equal(fault(first, { minSlot: 42 }), 'holds');
  t.equal(fault(first, { minSlot: 43 }), 'old-slot');
});

t.test('of several faults the first is reported', async (t) => {
  const notFound = replaceOnce(first, '"status":200', '"status":404');
  let wrong: Expected = { cluster: 'x', request: 'GET /api/v1/x', nonce: 'x', publicKeys: [], minSlot: 99 };
  const faults = [fault(replaceOnce(notFound, '9007199254740993', '1'), wrong), fault(notFound, wrong)];
  const { cluster, request, publicKeys } = expected;
  for (const mended of [{}, { cluster }, { request }, { nonce: null }, { publicKeys }, { minSlot: 0 }]) {
    wrong = { ...wrong, ...mended };
    faults.push(fault(first, wrong));
  }
  t.same(faults, ['digest', 'status', 'cluster', 'request', 'nonce', 'unknown-key', 'old-slot', 'holds']);
});

t.test('a body cut, joined or made of anything else throws nothing but a ReceiptError', async (t) => {
  const cut = fc.tuple(fc.nat({ max: first.length }), fc.nat({ max: first.length }), fc.string());
  fc.assert(
    fc.property(cut, ([from, to, between]) => {
      const body = first.slice(0, from) + between + first.slice(to);
      return body === first || fault(body) !== 'holds';
    }),
    { numRuns: 2000 },
  );
  t.pass();
});
