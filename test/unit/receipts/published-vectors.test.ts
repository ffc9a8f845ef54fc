import t from 'tap';
import { canonicalRequest } from '../../../src/domain/canonical-request.ts';
import { digestOf } from '../../../src/receipts/digest.ts';
import { EquivocationGuard } from '../../../src/receipts/equivocation-guard.ts';
import { parsePrivateKey } from '../../../src/receipts/keys/private-key-format.ts';
import { buildMerkleTree, leafHash, merkleRoot } from '../../../src/receipts/merkle-tree.ts';
import { formatReceipt, parseReceipt } from '../../../src/receipts/receipt.ts';
import { signBatch } from '../../../src/receipts/sign-batch.ts';
import { formatSignedBody, receiptTextIn } from '../../../src/receipts/signed-body.ts';
import { Signer } from '../../../src/receipts/signer.ts';
import { signingKeyOf } from '../../../src/receipts/signing-key.ts';
import { formatStatement, treeHeadText } from '../../../src/receipts/statement.ts';
import { verifyReceipt } from '../../../src/receipts/verify/verify-receipt.ts';
import { batchVectors, singleVector, type TestVector, testVectors } from '../../support/receipts/test-vectors.ts';

const secret = parsePrivateKey(testVectors.seed);
const resultOf = (vector: TestVector): string => Buffer.from(vector.resultHex, 'hex').toString();
const receiptTextOf = ({ body }: TestVector): string => receiptTextIn(body);

function receiptOf(vector: TestVector) {
  const receipt = parseReceipt(receiptTextOf(vector));
  if (receipt === undefined) throw new Error(`${vector.name} does not parse`);
  return receipt;
}

for (const vector of testVectors.vectors) {
  t.test(`vector ${vector.name}: every part of it is written bit for bit`, async (t) => {
    const receipt = receiptOf(vector);
    t.equal(canonicalRequest('GET', vector.target), vector.canonicalRequest);
    t.equal(digestOf(Buffer.from(vector.resultHex, 'hex')), vector.digest);
    t.equal(formatStatement(testVectors.publicKey, receipt), vector.statement);
    t.equal(leafHash(vector.statement), vector.leafHash);
    t.equal(treeHeadText(receipt.size, vector.root), vector.head);
    t.equal(formatReceipt(receipt), receiptTextOf(vector));
  });

  t.test(`vector ${vector.name}: the verifier accepts it and gives back the signed text`, async (t) => {
    const { cluster, nonce, target } = vector;
    const expected = { publicKeys: [testVectors.publicKey], cluster, nonce, request: `GET ${target}` };
    for (const body of [vector.body, Buffer.from(vector.body)]) {
      t.equal(verifyReceipt(body, expected).result, resultOf(vector));
    }
  });
}

t.test('the key has its published id', async (t) => {
  const { publicKey, kid } = signingKeyOf(secret);
  t.equal(publicKey, testVectors.publicKey);
  t.equal(kid, testVectors.kid);
});

t.test('the signer reproduces the single body', async (t) => {
  const { request, slot, commitment, digest, nonce, issuedAt, cluster } = receiptOf(singleVector);
  const guard = new EquivocationGuard(() => t.fail('no conflict'));
  guard.becomeSoleSigner();
  guard.advance(slot - 1);
  const signer = new Signer({ active: signingKeyOf(secret) }, { genesisHash: cluster }, guard);
  const [receipt] = signer.seal([{ request, slot, commitment, claim: 'exact', digest, nonce }], issuedAt);
  t.equal(formatSignedBody(resultOf(singleVector), slot, receipt ?? ''), singleVector.body);
});

t.test('one signature reproduces the three bodies of the batch', async (t) => {
  const receipts = signBatch(batchVectors.map(receiptOf), signingKeyOf(secret));
  t.same(receipts, batchVectors.map(receiptTextOf));
  t.equal(merkleRoot(buildMerkleTree(batchVectors.map(({ leafHash }) => leafHash))), batchVectors[0]?.root);
});
