import fc from 'fast-check';
import t from 'tap';
import { FAULT_EXPLANATIONS } from '../../../../src/page/verify/explanations.ts';
import { type VerificationInput, verifyText } from '../../../../src/page/verify/verification-report.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

const signer = newSigner();
const request = 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized';
const result = '{"lamports":9007199254740993}';
const answer = { request, slot: 42, commitment: 'finalized', claim: 'exact', nonce: null, result } as const;
const [body = '', bound = ''] = sealAnswers(signer, [answer, { ...answer, nonce: 'A'.repeat(22) }]);
const nothing: VerificationInput = { publicKey: '', cluster: '', request: '', nonce: '' };
const all: VerificationInput = { publicKey: signer.publicKey, cluster: CLUSTER, request, nonce: '' };
const judge = (text: string, known: Partial<VerificationInput> = {}) =>
  verifyText(text, { ...all, ...known }, NOW_MS + 180_000);
const lineOf = (finding: ReturnType<typeof judge>, name: string) => finding.lines.find((line) => line.name === name);

t.test('a body that holds is told line by line, and its result given', async (t) => {
  const finding = judge(body);
  t.match(finding, { verdict: 'proven', result });
  t.same(
    finding.lines.map(({ name, status }) => `${name} ${status}`),
    [
      ...['format proven', 'key proven', 'cluster proven', 'request proven', 'status proven', 'slot signed'],
      ...['commitment signed', 'claim signed', 'digest proven', 'issued signed', 'nonce signed', 'signature proven'],
    ],
  );
  t.match(lineOf(finding, 'cluster'), { value: CLUSTER, explanation: /mainnet-beta/ });
  t.match(lineOf(finding, 'issued'), { explanation: /2024-06-20T16:13:20\.000Z, 3 minutes ago/ });
  t.match(lineOf(finding, 'signature'), { explanation: /for 2 statements, of which this is number 1/ });
});

t.test('what a person does not say is signed, but not compared', async (t) => {
  const finding = judge(bound, { cluster: '', request: '' });
  t.equal(finding.verdict, 'proven');
  for (const name of ['cluster', 'request', 'nonce']) t.match(lineOf(finding, name), { status: 'signed' });
  const said = judge(bound, { nonce: 'A'.repeat(22) });
  t.match(lineOf(said, 'nonce'), { status: 'proven' });
});

t.test('without a key nothing is proven, and no result is given', async (t) => {
  const finding = verifyText(body, nothing, NOW_MS);
  t.match(finding, { verdict: 'open', result: null });
  for (const { name, status } of finding.lines) t.equal(status, 'claimed', name);
});

t.test('a body that does not hold proves no line, and the one at fault is marked', async (t) => {
  const cases: readonly [string, Partial<VerificationInput>, string | undefined, string][] = [
    [body.replace('993', '992'), {}, undefined, FAULT_EXPLANATIONS.digest],
    [body.replace('"v":1', '"v":2'), {}, undefined, FAULT_EXPLANATIONS.malformed],
    ['{"result":1}', {}, undefined, FAULT_EXPLANATIONS.malformed],
    ['hello', {}, undefined, FAULT_EXPLANATIONS.envelope],
    [body.replace('exact/1', 'exact/2'), {}, 'signature', FAULT_EXPLANATIONS.signature],
    [body.replace('"size":2', '"size":1'), {}, 'signature', FAULT_EXPLANATIONS.path],
    [body, { publicKey: CLUSTER }, 'key', FAULT_EXPLANATIONS['unknown-key']],
    [body, { cluster: signer.publicKey }, 'cluster', FAULT_EXPLANATIONS.cluster],
    [body, { request: 'GET /api/v1/slot' }, 'request', FAULT_EXPLANATIONS.request],
    [body, { nonce: 'A'.repeat(22) }, 'nonce', FAULT_EXPLANATIONS.nonce],
  ];
  for (const [text, known, wrong, words] of cases) {
    const finding = judge(text, known);
    t.match(finding, { verdict: 'refused', explanation: words, result: null });
    const standings = finding.lines.map(({ name, status }) => (status === 'wrong' ? name : status));
    t.same(new Set(standings), new Set(wrong === undefined ? [] : ['claimed', wrong]), words);
  }
});

t.test('a request that nobody can have made is no proof, though it was signed', async (t) => {
  for (const request of ['GET /api/v1/a//b', 'POST /api/v1/rpc']) {
    const [odd = ''] = sealAnswers(signer, [{ ...answer, request }]);
    const finding = judge(odd, { request: '' });
    t.match(finding, { verdict: 'refused', result: null });
    t.match(lineOf(finding, 'request'), { status: 'wrong' });
  }
});

t.test('a push and a body that was copied with blanks around it are taken as well', async (t) => {
  t.equal(judge(`{"type":"balance","id":"\\"answer\\":","seq":1,"answer":${body}}`).verdict, 'proven');
  t.equal(judge(`\n  ${body}\n\n`).verdict, 'proven');
});

t.test('the published vectors are proven', async (t) => {
  for (const { body, cluster, canonicalRequest, nonce, resultHex } of testVectors.vectors) {
    const known = { publicKey: testVectors.publicKey, cluster, request: canonicalRequest, nonce: nonce ?? '' };
    t.match(verifyText(body, known, NOW_MS), { verdict: 'proven', result: Buffer.from(resultHex, 'hex').toString() });
  }
});

t.test('a mistake in what a person says is told apart from the body', async (t) => {
  t.throws(() => judge(body, { publicKey: 'nobody' }), TypeError);
  t.throws(() => judge(body, { request: 'the balance' }), TypeError);
  t.throws(() => judge(body, { request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
});

t.test('no signer can choose a time that stops the page', async (t) => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (issuedAt, nowMs) => {
      const [late = ''] = sealAnswers(signer, [answer], issuedAt);
      const { lines } = verifyText(late, nothing, nowMs);
      return lines.some(({ name, explanation }) => name === 'issued' && explanation.startsWith('Issued '));
    }),
    { numRuns: 50 },
  );
  const [beyond = ''] = sealAnswers(newSigner(), [answer], Number.MAX_SAFE_INTEGER);
  t.match(lineOf(verifyText(beyond, nothing, 0), 'issued'), { explanation: 'Issued in no year that a calendar knows.' });
});
