import fc from 'fast-check';
import t from 'tap';
import { COMMITMENTS } from '../../../src/domain/commitment.ts';
import { verifyReceipt } from '../../../src/receipts/verify/verify-receipt.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../support/receipts/sealed-answers.ts';

const answer = {
  request: 'GET /api/v1/slot',
  slot: 7,
  commitment: 'processed',
  claim: 'observed',
  nonce: null,
  result: '7',
} as const;

t.test('every sealed answer verifies, in any batch', async (t) => {
  const nonce = fc.option(fc.stringMatching(/^[\w-]{16,64}$/));
  const answers = fc.array(
    fc.record({
      request: fc
        .webQueryParameters()
        .map((q) => `GET /api/v1/search?q=${encodeURIComponent(q).replace(/[!'()*]/g, '')}`),
      slot: fc.oneof(fc.nat({ max: 63 }), fc.maxSafeNat()),
      commitment: fc.constantFrom(...COMMITMENTS),
      claim: fc.constantFrom('exact' as const, 'observed' as const),
      nonce,
      result: fc.json({ stringUnit: 'binary' }),
    }),
    { minLength: 1, maxLength: 64 },
  );
  const signer = newSigner();
  const trusted = { publicKeys: [signer.publicKey], cluster: CLUSTER, time: { nowMs: NOW_MS, maxAgeMs: 0 } };
  fc.assert(
    fc.property(answers, fc.nat(), (answers, pick) => {
      const bodies = sealAnswers(signer, answers);
      const index = pick % answers.length;
      const { request = '', nonce = null, result, slot } = answers[index] ?? {};
      const verified = verifyReceipt(bodies[index] ?? '', { ...trusted, request, nonce });
      return verified.result === result && verified.slot === slot && verified.receipt.size === answers.length;
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('an empty batch is not signed', async (t) => {
  t.same(newSigner().seal([], NOW_MS), []);
});

t.test('time never goes back from one receipt to the next, unless the clock was set back far', async (t) => {
  const steps: number[] = [];
  const signer = newSigner(undefined, (leadMs) => steps.push(leadMs));
  const at = (nowMs: number) => JSON.parse(sealAnswers(signer, [answer], nowMs)[0] ?? '').receipt.issuedAt;
  t.equal(at(NOW_MS), NOW_MS);
  t.equal(at(NOW_MS - 5000), NOW_MS);
  t.same(signer.problems(NOW_MS - 5000), ['receipts are dated 5 s ahead of the clock']);
  t.same([steps, signer.problems(NOW_MS)], [[], []]);
  t.equal(at(NOW_MS + 86_400_000), NOW_MS + 86_400_000);
  t.equal(at(NOW_MS + 1), NOW_MS + 1, 'no verifier would take a receipt of tomorrow');
  t.same([steps, signer.problems(NOW_MS + 1)], [[86_399_999], []]);
});

t.test('two different results never have the same exact claim', async (t) => {
  const signer = newSigner();
  const exact = { ...answer, commitment: 'finalized', claim: 'exact' } as const;
  const claims = sealAnswers(signer, [exact, { ...exact, result: '8' }, exact]).map(
    (body) => JSON.parse(body).receipt.claim,
  );
  t.same(claims, ['exact/1', 'observed/1', 'exact/1']);
});

t.test('a result whose form has changed is signed under the next number, which verifiers take as it is', async (t) => {
  const signer = newSigner();
  const [body = ''] = sealAnswers(signer, [{ ...answer, claimNumber: 2 }]);
  const { request } = answer;
  const expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request, nonce: null, time: { nowMs: NOW_MS } };
  t.equal(verifyReceipt(body, expected).receipt.claim, 'observed/2');
  t.throws(() => verifyReceipt(body.replace('observed/2', 'observed/1'), expected), { code: 'signature' });
});
