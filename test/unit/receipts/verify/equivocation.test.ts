import fc from 'fast-check';
import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { signBatch } from '../../../../src/receipts/sign-batch.ts';
import { signingKeyOf } from '../../../../src/receipts/signing-key.ts';
import type { Statement } from '../../../../src/receipts/statement.ts';
import { equivocation, type Receipt } from '../../../../src/receipts/verify/verify-receipt.ts';
import { CLUSTER, NOW_MS, newSigner } from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

const key = signingKeyOf(parsePrivateKey(testVectors.seed));
const { publicKey } = key;

const truth: Statement = {
  cluster: CLUSTER,
  request: 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized',
  status: 200,
  slot: 42,
  commitment: 'finalized',
  claim: 'exact/1',
  digest: 'a'.repeat(64),
  issuedAt: NOW_MS,
  nonce: null,
};
const lie: Statement = { ...truth, digest: 'b'.repeat(64) };

/** Returns the receipt of one statement, signed with `others` in the same tree. */
const signed = (statement: Statement, ...others: Statement[]): string =>
  signBatch([statement, ...others], key)[0] ?? '';
const isProof = (a: Partial<Statement>, b: Partial<Statement>): boolean =>
  equivocation(signed({ ...truth, ...a }), signed({ ...lie, ...b }), publicKey);

t.test('two exact results for one finalized request convict', async (t) => {
  t.ok(isProof({}, {}));
  t.ok(isProof({}, { issuedAt: NOW_MS + 60_000, nonce: 'A'.repeat(16) }), 'at any time and for any caller');
  t.ok(equivocation(signed(truth, lie), signed(lie, truth, truth), publicKey), 'alone or together with others');
  t.ok(equivocation(JSON.parse(signed(truth)), JSON.parse(signed(lie)), publicKey), 'parsed or not');
  const hinted = signed(lie).replace(key.kid, '0'.repeat(16));
  t.ok(equivocation(signed(truth), hinted, publicKey), 'a wrong key id changes nothing');
});

t.test('one result signed several times convicts nobody', async (t) => {
  t.notOk(equivocation(signed(truth), signed({ ...truth, issuedAt: NOW_MS + 1 }), publicKey));
});

t.test('results may differ where one was not finalized', async (t) => {
  for (const commitment of ['processed', 'confirmed'] as const) {
    t.notOk(isProof({ commitment }, { commitment }), commitment);
    t.notOk(isProof({ commitment }, {}), `${commitment} and finalized`);
  }
});

t.test('results may differ where one is observed only', async (t) => {
  t.notOk(isProof({ claim: 'observed/1' }, { claim: 'observed/1' }));
  t.notOk(isProof({}, { claim: 'observed/1' }));
});

t.test('results may differ under two revisions of their schema', async (t) => {
  t.notOk(isProof({}, { claim: 'exact/2' }));
  t.ok(isProof({ claim: 'exact/2' }, { claim: 'exact/2' }));
});

t.test('results of two requests may differ', async (t) => {
  t.notOk(isProof({}, { request: 'GET /api/v1/slot' }));
  t.notOk(isProof({}, { slot: 43 }));
  t.notOk(isProof({}, { cluster: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }));
  t.notOk(isProof({}, { status: 404 }));
});

t.test('a receipt that the key did not sign says nothing about its owner', async (t) => {
  const honest = signed(truth);
  const code = (a: Receipt | string, b: Receipt | string, of = publicKey): unknown => {
    try {
      return equivocation(a, b, of);
    } catch (thrown) {
      return (thrown as { code?: unknown }).code;
    }
  };
  const forged = honest.replace(truth.digest, lie.digest);
  t.equal(code(honest, forged), 'signature');
  t.equal(code(forged, honest), 'signature');
  t.equal(code(honest, signed(lie), newSigner().publicKey), 'signature');
  t.equal(code(honest, signed(lie, truth).replace('"index":0', '"index":1')), 'signature');
  t.equal(code(honest, signed(lie, truth).replace('"size":2', '"size":1')), 'path');
  t.equal(code(honest, ` ${signed(lie)}`), 'malformed');
  t.equal(code(honest, { ...JSON.parse(signed(lie)), more: 1 }), 'malformed');
  t.equal(code(honest, signed(lie), '1'.repeat(32)), 'weak-key');
  t.throws(() => equivocation(honest, honest, 'nobody'), TypeError);
});

const statement: fc.Arbitrary<Statement> = fc.record({
  cluster: fc.constant(CLUSTER),
  request: fc.constantFrom(truth.request, 'GET /api/v1/slot'),
  status: fc.constant(200),
  slot: fc.constantFrom(42, 43),
  commitment: fc.constantFrom('processed', 'confirmed', 'finalized', 'finalized', 'finalized'),
  claim: fc.constantFrom('exact/1', 'exact/1', 'exact/2', 'observed/1'),
  digest: fc.constantFrom(truth.digest, lie.digest),
  issuedAt: fc.nat(),
  nonce: fc.constantFrom(null, 'A'.repeat(16)),
});

t.test('it is symmetric, and true of exactly those that contradict each other', async (t) => {
  fc.assert(
    fc.property(statement, statement, (a, b) => {
      const verdict = equivocation(signed(a), signed(b), publicKey);
      const firm = [a, b].every(({ claim, commitment }) => claim !== 'observed/1' && commitment === 'finalized');
      const subject = ({ request, slot, claim }: Statement): string => `${request} ${slot} ${claim}`;
      t.equal(verdict, firm && subject(a) === subject(b) && a.digest !== b.digest);
      return verdict === equivocation(signed(b), signed(a), publicKey);
    }),
    { numRuns: 60, examples: [[truth, lie]] },
  );
});

t.test('an honest signer never convicts itself: its guard claims observed for the second result', async (t) => {
  fc.assert(
    fc.property(fc.array(statement, { minLength: 2, maxLength: 6 }), (statements) => {
      const signer = newSigner();
      const receipts = signer.seal(
        statements.map((one) => ({ ...one, claim: one.claim === 'observed/1' ? 'observed' : 'exact' })),
        NOW_MS,
      );
      return receipts.every((a) => receipts.every((b) => !equivocation(a, b, signer.publicKey)));
    }),
    { numRuns: 8 },
  );
  t.pass();
});
