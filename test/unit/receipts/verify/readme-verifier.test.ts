import t from 'tap';
import { skipPython } from '../../../support/receipts/python-implementation.ts';
import { readmeVerdict, readmeVerifier } from '../../../support/receipts/readme-implementation.ts';
import { batch, single, type Vector, vectors } from '../../../support/receipts/test-vectors.ts';

const { publicKey } = vectors;
const judge = (vector: Vector, body = vector.body): string =>
  readmeVerdict({ publicKey, cluster: vector.cluster, request: vector.canonicalRequest, nonce: vector.nonce, body });

t.test('the verifier in the manual is short', async (t) => {
  t.match(readmeVerifier, 'openssl');
  t.ok(readmeVerifier.trimEnd().split('\n').length <= 30);
});

t.test('it believes the published vectors, and none that was touched', { skip: skipPython }, async (t) => {
  for (const vector of [single, ...batch])
    t.equal(judge(vector), Buffer.from(vector.resultHex, 'hex').toString(), vector.name);
  const [, bound = single] = batch;
  t.equal(judge(single, single.body.replace('9007199254740993', '9007199254740992')), 'refused: digest');
  t.equal(judge(single, single.body.replaceAll('"slot":296410233', '"slot":296410234')), 'refused: signature');
  t.equal(judge(single, single.body.replace('"index":0', '"index": 0')), 'refused: malformed');
  t.equal(judge(bound, bound.body.replace(/"size":\d+/, '"size":9')), 'refused: path');
  t.equal(judge(single, bound.body), 'refused: not what was asked');
});
