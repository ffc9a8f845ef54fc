import t from 'tap';
import { canonicalRequest } from '../../../src/domain/canonical-request.ts';
import { digestOf } from '../../../src/receipts/digest.ts';
import { EquivocationGuard } from '../../../src/receipts/equivocation-guard.ts';
import { parsePrivateKey } from '../../../src/receipts/keys/private-key-format.ts';
import { buildMerkleTree, leafHash, merkleRoot } from '../../../src/receipts/merkle-tree.ts';
import { formatReceipt, parseReceipt } from '../../../src/receipts/receipt.ts';
import { signBatch, signingKeyOf } from '../../../src/receipts/sign-batch.ts';
import { formatSignedBody, receiptTextIn } from '../../../src/receipts/signed-body.ts';
import { Signer } from '../../../src/receipts/signer.ts';
import { formatStatement, treeHeadText } from '../../../src/receipts/statement.ts';
import { verifyReceipt } from '../../../src/receipts/verify/verify-receipt.ts';
import { batch, single, type Vector, vectors } from '../../support/receipts/test-vectors.ts';

const secret = parsePrivateKey(vectors.seed);
const resultOf = (vector: Vector): string => Buffer.from(vector.resultHex, 'hex').toString();
const receiptTextOf = ({ body }: Vector): string => receiptTextIn(body);

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
    t.equal(formatStatement(vectors.publicKey, receipt), vector.statement);
    t.equal(leafHash(vector.statement), vector.leafHash);
    t.equal(treeHeadText(receipt.size, vector.root), vector.head);
    t.equal(formatReceipt(receipt), receiptTextOf(vector));
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
  const { publicKey, kid } = signingKeyOf(secret);
  t.equal(publicKey, vectors.publicKey);
  t.equal(kid, vectors.kid);
});

t.test('the signer reproduces the single body', async (t) => {
  const { request, slot, commitment, digest, nonce, issuedAt, cluster } = receiptOf(single);
  const guard = new EquivocationGuard(() => t.fail('no conflict'));
  guard.becomeSoleSigner();
  guard.advance(slot - 1);
  const signer = new Signer({ active: signingKeyOf(secret) }, cluster, guard);
  const [receipt] = signer.seal([{ request, slot, commitment, claim: 'exact', digest, nonce }], issuedAt);
  t.equal(formatSignedBody(resultOf(single), slot, receipt ?? ''), single.body);
});

t.test('one signature reproduces the three bodies of the batch', async (t) => {
  const receipts = signBatch(batch.map(receiptOf), signingKeyOf(secret));
  t.same(receipts, batch.map(receiptTextOf));
  t.equal(merkleRoot(buildMerkleTree(batch.map(({ leafHash }) => leafHash))), batch[0]?.root);
});
