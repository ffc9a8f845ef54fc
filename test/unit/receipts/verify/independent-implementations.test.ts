import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { parseReceipt, type Receipt } from '../../../../src/receipts/receipt.ts';
import { signBatch } from '../../../../src/receipts/sign-batch.ts';
import { receiptTextIn } from '../../../../src/receipts/signed-body.ts';
import { signingKeyOf } from '../../../../src/receipts/signing-key.ts';
import { verifyReceipt } from '../../../../src/receipts/verify/verify-receipt.ts';
import { pythonReceipts, pythonSkipReason, pythonVerdicts } from '../../../support/receipts/python-implementation.ts';
import { CLUSTER, NOW_MS } from '../../../support/receipts/sealed-answers.ts';
import { batchVectors, singleVector, type TestVector, testVectors } from '../../../support/receipts/test-vectors.ts';
import { signWithNodeCrypto, verifyWithNodeCrypto } from '../node-crypto-implementation.ts';

const receiptOf = ({ body }: TestVector): Receipt => {
  const receipt = parseReceipt(receiptTextIn(body));
  if (receipt === undefined) throw new Error('no receipt');
  return receipt;
};

const { publicKey, seed } = testVectors;
const key = signingKeyOf(parsePrivateKey(seed));
const ours = (body: string, { cluster, canonicalRequest: request, nonce }: TestVector): boolean =>
  verifyReceipt(body, { publicKeys: [publicKey], cluster, request, nonce }).slot > 0;
const python = (bodies: readonly string[]): string[] =>
  pythonVerdicts(
    testVectors.vectors.map(({ cluster, canonicalRequest: request, nonce }, i) => {
      return { publicKey, cluster, request, nonce, body: bodies[i] ?? '' };
    }),
  );

/** Signs the bodies of the vectors again. */
function signedBy(sign: (receipts: readonly Receipt[]) => readonly string[]): string[] {
  const receipts = [...sign([receiptOf(singleVector)]), ...sign(batchVectors.map(receiptOf))];
  return testVectors.vectors.map(({ body }, i) => `${body.slice(0, body.lastIndexOf('{'))}${receipts[i]}}`);
}

const signers: Readonly<Record<string, () => string[]>> = {
  ours: () => signedBy((receipts) => signBatch(receipts, key)),
  'node:crypto': () => signedBy((receipts) => signWithNodeCrypto(seed, receipts)),
  'Python and openssl': () => signedBy((receipts) => pythonReceipts(seed, receipts)),
};

for (const [name, sign] of Object.entries(signers)) {
  const skip = name.startsWith('Python') && pythonSkipReason;
  t.test(`${name}: the vectors are signed to the bit, and all three verifiers take them`, { skip }, async (t) => {
    const bodies = sign();
    t.same(
      bodies,
      testVectors.vectors.map(({ body }) => body),
    );
    for (const [i, vector] of testVectors.vectors.entries()) {
      t.ok(ours(bodies[i] ?? '', vector), `ours ${vector.name}`);
      t.ok(verifyWithNodeCrypto(bodies[i] ?? '', publicKey), `node:crypto ${vector.name}`);
      t.notOk(verifyWithNodeCrypto((bodies[i] ?? '').replace('"issuedAt":1', '"issuedAt":2'), publicKey));
    }
    if (!pythonSkipReason) t.same(python(bodies), ['holds', 'holds', 'holds', 'holds']);
  });
}

t.test('for trees of many sizes the three sign the same', { skip: pythonSkipReason }, async (t) => {
  for (const size of [2, 5, 8, 33, 64]) {
    const statements = Array.from({ length: size }, (_, n) => {
      const { digest, claim, commitment } = receiptOf(singleVector);
      const nonce = n % 2 ? null : 'A'.repeat(16);
      const request = `GET /api/v1/block/${n}`;
      return {
        cluster: CLUSTER,
        request,
        status: 200,
        slot: n,
        commitment,
        claim,
        digest,
        issuedAt: NOW_MS + n,
        nonce,
      };
    });
    const receipts = signBatch(statements, key);
    t.same(signWithNodeCrypto(seed, statements), receipts);
    t.same(pythonReceipts(seed, statements), receipts);
  }
});
