import t from 'tap';
import { exampleVerifierSource, runExampleVerifier } from '../../../support/receipts/example-implementation.ts';
import { pythonSkipReason } from '../../../support/receipts/python-implementation.ts';
import { batchVectors, singleVector, type TestVector, testVectors } from '../../../support/receipts/test-vectors.ts';

const { publicKey } = testVectors;
const judge = (vector: TestVector, body = vector.body): string =>
  runExampleVerifier({
    publicKey,
    cluster: vector.cluster,
    request: vector.canonicalRequest,
    nonce: vector.nonce,
    body,
  });

t.test('the verifier in Python among the examples is short', async (t) => {
  t.match(exampleVerifierSource, 'openssl');
  t.ok(exampleVerifierSource.trimEnd().split('\n').length <= 30);
});

t.test('it accepts the published vectors, and none that was changed', { skip: pythonSkipReason }, async (t) => {
  for (const vector of [singleVector, ...batchVectors])
    t.equal(judge(vector), Buffer.from(vector.resultHex, 'hex').toString(), vector.name);
  const [, bound = singleVector] = batchVectors;
  t.equal(judge(singleVector, singleVector.body.replace('9007199254740993', '9007199254740992')), 'refused: digest');
  t.equal(
    judge(singleVector, singleVector.body.replaceAll('"slot":296410233', '"slot":296410234')),
    'refused: signature',
  );
  t.equal(judge(singleVector, singleVector.body.replace('"index":0', '"index": 0')), 'refused: malformed');
  t.equal(judge(bound, bound.body.replace(/"size":\d+/, '"size":9')), 'refused: path');
  t.equal(judge(singleVector, bound.body), 'refused: not what was asked');
});
