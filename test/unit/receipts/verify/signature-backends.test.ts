import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { digestOf } from '../../../../src/receipts/digest.ts';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { leafHash } from '../../../../src/receipts/merkle-tree.ts';
import { formatReceipt } from '../../../../src/receipts/receipt.ts';
import { formatSignedBody } from '../../../../src/receipts/signed-body.ts';
import { publicBytesOf } from '../../../../src/receipts/signing-key.ts';
import { formatStatement, type Statement, treeHeadText } from '../../../../src/receipts/statement.ts';
import { isSignature } from '../../../../src/receipts/verify/ed25519-signature.ts';
import { isOpensslSignature } from '../../../../src/receipts/verify/openssl-signature.ts';
import { createVerifier, type Verifier, verifyReceipt } from '../../../../src/receipts/verify/verify-receipt.ts';
import {
  pythonSkipReason,
  pythonVerdicts,
  type VerifyRequest,
} from '../../../support/receipts/python-implementation.ts';
import { CLUSTER, NOW_MS } from '../../../support/receipts/sealed-answers.ts';
import {
  commitmentTo,
  craftSignature,
  littleEndianInteger,
  NON_CANONICAL_IDENTITY,
  SMALL_ORDER,
  withTorsion,
  withUnreducedScalar,
} from '../hostile-signer.ts';
import { verificationOutcome } from '../verification-outcome.ts';

const seed = randomBytes(32);
const honestKey = publicBytesOf(parsePrivateKey(seed.toString('hex')));
const [identity = Buffer.alloc(0), torsion = Buffer.alloc(0), ...otherTorsion] = SMALL_ORDER;
const nonce = littleEndianInteger(randomBytes(31)) + 1n;

const result = '{"lamports":1}';
const statement: Statement = {
  cluster: CLUSTER,
  request: 'GET /api/v1/slot',
  status: 200,
  slot: 42,
  commitment: 'finalized',
  claim: 'exact/1',
  digest: digestOf(result),
  issuedAt: NOW_MS,
  nonce: null,
};

/** Creates a body under a key, with any signature that its hostile owner makes of the tree head. */
function question(publicKey: Uint8Array, signHead: (head: Buffer) => Uint8Array): VerifyRequest {
  const name = bs58.encode(publicKey);
  const head = Buffer.from(treeHeadText(1, leafHash(formatStatement(name, statement))));
  const sig = Buffer.from(signHead(head)).toString('hex');
  const kid = digestOf(publicKey).slice(0, 16);
  const receipt = formatReceipt({ v: 1, kid, ...statement, size: 1, index: 0, path: [], sig });
  const { cluster, request, slot } = statement;
  const body = formatSignedBody(result, slot, receipt);
  return { publicKey: name, cluster, request, nonce: null, body };
}

const judge = (verify: Verifier, { publicKey, body, ...expected }: VerifyRequest): string =>
  verificationOutcome(verify, body, { ...expected, publicKeys: [publicKey] });

const back: Readonly<Record<string, Verifier>> = {
  portable: verifyReceipt,
  'portable, remembering': createVerifier(),
  openssl: createVerifier({ isSignature: isOpensslSignature }),
};

const by = (r: Uint8Array, times = 0n, key: Uint8Array = honestKey): VerifyRequest =>
  question(key, (head) =>
    withUnreducedScalar(craftSignature(seed, key, head, r, r === NON_CANONICAL_IDENTITY ? 0n : nonce), times),
  );

const CASES: readonly (readonly [what: string, VerifyRequest, verdict: string])[] = [
  ['honest', by(commitmentTo(nonce, identity)), 'holds'],
  ...[torsion, ...otherTorsion].map(
    (point) => ['R plus torsion', by(commitmentTo(nonce, point)), 'signature'] as const,
  ),
  ...[1n, 2n, 7n].map((times) => [`S + ${times}L`, by(commitmentTo(nonce, identity), times), 'signature'] as const),
  ['R in a second spelling', by(NON_CANONICAL_IDENTITY), 'signature'],
  ['R of small order', by(torsion), 'signature'],
  ['R no point', by(Buffer.alloc(32, 2)), 'signature'],
  ['nothing but zeros', question(honestKey, () => Buffer.alloc(64)), 'signature'],
  ...SMALL_ORDER.map((key) => {
    const signed = question(key, () => Buffer.concat([identity, Buffer.alloc(32)])); // fits every message whose challenge the order divides
    return ['a key of small order', signed, 'weak-key'] as const;
  }),
  ['a key with torsion', by(commitmentTo(nonce, identity), 0n, withTorsion(honestKey, torsion)), 'weak-key'],
  ['a key in a second spelling', question(NON_CANONICAL_IDENTITY, () => Buffer.alloc(64)), 'weak-key'],
];

for (const [name, verify] of Object.entries(back)) {
  t.test(`${name}: a hostile signer finds nothing on which verifiers differ`, async (t) => {
    for (const [what, asked, expected] of CASES) t.equal(judge(verify, asked), expected, what);
  });
}

t.test(
  'Python and openssl: a hostile signer finds nothing on which verifiers differ',
  { skip: pythonSkipReason },
  async (t) => {
    t.same(
      pythonVerdicts(CASES.map(([, asked]) => asked)),
      CASES.map(([, , expected]) => expected),
    );
  },
);

t.test('whatever is added to R and S, the two libraries agree, and accept only the honest signature', async (t) => {
  const one = fc.record({
    nonce: fc.bigInt({ min: 1n, max: 2n ** 250n }),
    torsion: fc.nat(7),
    times: fc.bigInt({ min: 0n, max: 7n }),
    head: fc.uint8Array({ minLength: 90, maxLength: 90 }),
    flip: fc.option(fc.nat(511)),
  });
  fc.assert(
    fc.property(one, ({ nonce, torsion, times, head, flip }) => {
      const r = commitmentTo(nonce, SMALL_ORDER[torsion] ?? identity);
      const signature = withUnreducedScalar(craftSignature(seed, honestKey, head, r, nonce), times);
      if (flip !== null) signature[flip >> 3] = (signature[flip >> 3] ?? 0) ^ (1 << (flip & 7));
      const isHonest = torsion === 0 && times === 0n && flip === null;
      return [isSignature, isOpensslSignature].every((check) => check(signature, head, honestKey) === isHonest);
    }),
    { numRuns: 300, examples: [[{ nonce: 1n, torsion: 0, times: 0n, head: new Uint8Array(90), flip: null }]] },
  );
  t.pass();
});
