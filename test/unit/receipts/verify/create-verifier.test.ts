import fc from 'fast-check';
import t from 'tap';
import { isSignature } from '../../../../src/receipts/verify/ed25519-signature.ts';
import { ReceiptError } from '../../../../src/receipts/verify/receipt-error.ts';
import { memoized } from '../../../../src/receipts/verify/signature-backend.ts';
import { parseTrustedKey, type TrustedKey } from '../../../../src/receipts/verify/trusted-key.ts';
import {
  createVerifier,
  type Expected,
  type Verifier,
  verifyReceipt,
} from '../../../../src/receipts/verify/verify-receipt.ts';
import { CLUSTER, newSigner, sealAnswers, type UnsealedAnswer } from '../../../support/receipts/sealed-answers.ts';

const signer = newSigner();
const answers = Array.from({ length: 8 }, (_, n): UnsealedAnswer => {
  const request = `GET /api/v1/block/${n}`;
  return { request, slot: n, commitment: 'confirmed', claim: 'observed', nonce: null, result: `{"n":${n}}` };
});
const bodies = sealAnswers(signer, answers);
const expected = (n: number): Expected => ({
  publicKeys: [signer.publicKey],
  cluster: CLUSTER,
  request: `GET /api/v1/block/${n}`,
});

function verdict(verify: Verifier, body: string, n: number): string {
  try {
    return verify(body, expected(n)).result;
  } catch (thrown) {
    if (thrown instanceof ReceiptError) return thrown.code;
    throw thrown;
  }
}

t.test('the receipts of a batch cost one signature check', async (t) => {
  let checks = 0;
  const verify = createVerifier({
    isSignature: (...args) => {
      checks++;
      return isSignature(...args);
    },
  });
  for (const [n, body] of bodies.entries()) t.equal(verdict(verify, body, n), `{"n":${n}}`);
  t.equal(checks, 1);
});

t.test('the cache changes no result: each one equals that of a verifier without a cache', async (t) => {
  const verify = createVerifier();
  for (const [n, body] of bodies.entries()) verdict(verify, body, n);
  const sig = /"sig":"(.{128})"/.exec(bodies[0] ?? '')?.[1] ?? '';
  const forgeries = (body: string): string[] => [
    body,
    body.replace(sig, `${sig.slice(1)}0`),
    body.replace(/"size":8/, '"size":7'),
    body.replace('confirmed', 'finalized'),
    body.replace(/"path":\["(.)/, (path) => path.slice(0, -1) + (path.endsWith('0') ? '1' : '0')),
    body.replace(/"issuedAt":(\d)/, '"issuedAt":$11'),
  ];
  fc.assert(
    fc.property(fc.nat(7), fc.nat(5), fc.nat(7), (n, forgery, asked) => {
      const body = forgeries(bodies[n] ?? '')[forgery] ?? '';
      const alone = verdict(verifyReceipt, body, asked);
      return verdict(verify, body, asked) === alone && alone.startsWith('{') === (forgery === 0 && asked === n);
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('only the newest tree heads are cached, and nothing that failed', async (t) => {
  const checked: string[] = [];
  const inner = {
    parseKey: parseTrustedKey,
    isSigned: (head: string, sig: string) => {
      checked.push(head);
      return sig === 'good';
    },
  };
  const judge = memoized(inner, 2);
  const key: TrustedKey = judge.parseKey(signer.publicKey);
  t.equal(judge.parseKey(signer.publicKey), key, 'a key is parsed once');
  const ask = (head: string, sig = 'good'): boolean => judge.isSigned(head, sig, key);
  t.ok(ask('a') && ask('b') && ask('b') && ask('a'));
  t.same(checked, ['a', 'b']);
  t.notOk(ask('c', 'bad'));
  t.notOk(ask('c', 'bad'));
  t.notOk(ask('a', 'bad'), 'a known tree head with another signature');
  t.same(checked, ['a', 'b', 'c', 'c', 'a']);
  t.ok(ask('d') && ask('b') && ask('d'), 'the oldest was evicted');
  t.same(checked.splice(5), ['d']);
  t.ok(ask('a'));
  t.same(checked.splice(5), ['a']);
  const other = judge.parseKey(newSigner().publicKey);
  t.ok(judge.isSigned('a', 'good', other));
  t.same(checked.splice(5), ['a'], 'nothing is cached for another key');
});

t.test('few keys are cached, however many are used', async (t) => {
  let read = 0;
  const judge = memoized(
    {
      parseKey: (base58) => {
        read++;
        return { base58, bytes: new Uint8Array(32), kid: '', isStrong: () => true };
      },
      isSigned: () => false,
    },
    1,
  );
  for (let n = 0; n < 65; n++) judge.parseKey(`key ${n}`);
  judge.parseKey('key 64');
  t.equal(read, 65);
  judge.parseKey('key 0');
  t.equal(read, 66, 'evicted, and parsed again');
});
