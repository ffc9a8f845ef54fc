import t from 'tap';
import { canonicalRequest } from '../../../src/domain/canonical-request.ts';
import { receiptIn, signedBody } from '../../../src/receipts/body.ts';
import { digestOf } from '../../../src/receipts/digest.ts';
import { Guard } from '../../../src/receipts/guard.ts';
import { parseKey } from '../../../src/receipts/keys/key-format.ts';
import { parseReceipt, receiptText } from '../../../src/receipts/receipt.ts';
import { signAll, signingKey } from '../../../src/receipts/sign.ts';
import { Signer } from '../../../src/receipts/signer.ts';
import { headText, statementText } from '../../../src/receipts/statement.ts';
import { leafHash, rootOf, treeOf } from '../../../src/receipts/tree.ts';
import { verifyReceipt } from '../../../src/receipts/verify/verify.ts';
import { batch, single, type Vector, vectors } from '../../support/receipts/vectors.ts';

const secret = parseKey(vectors.seed);
const resultOf = (vector: Vector): string => Buffer.from(vector.resultHex, 'hex').toString();
const receiptTextOf = ({ body }: Vector): string => receiptIn(body);

function receiptOf(vector: Vector) {
  const receipt = parseReceipt(receiptTextOf(vector));
  if (receipt === undefined) throw new Error(`${vector.name} does not parse`);
  return receipt;
}

for (const vector of vectors.vectors) {
  t.test(`vector ${vector.name}: every part of it is written bit for bit`, async (t) => {
    const receipt = receiptOf(vector);
    t.equal(canonicalRequest('GET', vector.target), vector.canonicalRequest);
    t.equal(digestOf(Buffer.from(vector.resultHex, 'hex')), vector.digest);
    t.equal(statementText(vectors.publicKey, receipt), vector.statement);
    t.equal(leafHash(vector.statement), vector.leafHash);
    t.equal(headText(receipt.size, vector.root), vector.head);
    t.equal(receiptText(receipt), receiptTextOf(vector));
  });

  t.test(`vector ${vector.name}: the verifier accepts it and gives back the signed text`, async (t) => {
    const { cluster, nonce, target } = vector;
    const expected = { publicKeys: [vectors.publicKey], cluster, nonce, request: `GET ${target}` };
    for (const body of [vector.body, Buffer.from(vector.body)]) {
      t.equal(verifyReceipt(body, expected).result, resultOf(vector));
    }
  });
}

t.test('the key has its published names', async (t) => {
  const { publicKey, kid } = signingKey(secret);
  t.equal(publicKey, vectors.publicKey);
  t.equal(kid, vectors.kid);
});

t.test('the signer reproduces the single body', async (t) => {
  const { request, slot, commitment, digest, nonce, issuedAt, cluster } = receiptOf(single);
  const guard = new Guard(() => t.fail('no conflict'));
  guard.signAlone();
  guard.advance(slot - 1);
  const signer = new Signer({ active: signingKey(secret) }, cluster, guard);
  const [receipt] = signer.seal([{ request, slot, commitment, claim: 'exact', digest, nonce }], issuedAt);
  t.equal(signedBody(resultOf(single), slot, receipt ?? ''), single.body);
});

t.test('one signature reproduces the three bodies of the batch', async (t) => {
  const receipts = signAll(batch.map(receiptOf), signingKey(secret));
  t.same(receipts, batch.map(receiptTextOf));
  t.equal(rootOf(treeOf(batch.map(({ leafHash }) => leafHash))), batch[0]?.root);
});
