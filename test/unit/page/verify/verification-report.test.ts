import fc from 'fast-check';
import t from 'tap';
import {
  type VerificationInput,
  type VerificationReport,
  verifyText,
} from '../../../../src/page/verify/verification-report.ts';
import { FAULT_EXPLANATIONS } from '../../../../src/receipts/verify/fault-explanations.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

const signer = newSigner();
const request = 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized';
const result = '{"lamports":9007199254740993}';
const answer = { request, slot: 42, commitment: 'finalized', claim: 'exact', nonce: null, result } as const;
const [body = '', bound = ''] = sealAnswers(signer, [answer, { ...answer, nonce: 'A'.repeat(22) }]);
const nothing: VerificationInput = { publicKey: '', cluster: '', request: '', nonce: '' };
const all: VerificationInput = { publicKey: signer.publicKey, cluster: CLUSTER, request, nonce: '' };
const verify = (text: string, input: Partial<VerificationInput> = {}) =>
  verifyText(text, { ...all, ...input }, NOW_MS + 180_000);
const lineOf = (report: VerificationReport, name: string) => report.lines.find((line) => line.name === name);

t.test('a valid body is reported line by line, with its result', async (t) => {
  const report = verify(body);
  t.match(report, { verdict: 'proven', result });
  t.same(
    report.lines.map(({ name, status }) => `${name} ${status}`),
    [
      ...['format proven', 'key proven', 'cluster proven', 'request proven', 'status proven', 'slot signed'],
      ...['commitment signed', 'claim signed', 'digest proven', 'issued signed', 'nonce signed', 'signature proven'],
    ],
  );
  t.match(lineOf(report, 'cluster'), { value: CLUSTER, explanation: /mainnet-beta/ });
  t.match(lineOf(report, 'issued'), { explanation: /2024-06-20T16:13:20\.000Z, 3 minutes ago/ });
  t.match(lineOf(report, 'signature'), { explanation: /for 2 statements, of which this is number 1/ });
});

t.test('lines without an expected value are signed, but not compared', async (t) => {
  const report = verify(bound, { cluster: '', request: '' });
  t.equal(report.verdict, 'proven');
  for (const name of ['cluster', 'request', 'nonce']) t.match(lineOf(report, name), { status: 'signed' });
  const compared = verify(bound, { nonce: 'A'.repeat(22) });
  t.match(lineOf(compared, 'nonce'), { status: 'proven' });
});

t.test('without a key nothing is proven, and there is no result', async (t) => {
  const report = verifyText(body, nothing, NOW_MS);
  t.match(report, { verdict: 'open', result: null });
  for (const { name, status } of report.lines) t.equal(status, 'unproven', name);
});

t.test('an invalid body proves no line, and the wrong one is marked', async (t) => {
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
  for (const [text, input, wrong, explanation] of cases) {
    const report = verify(text, input);
    t.match(report, { verdict: 'refused', explanation, result: null });
    const statuses = report.lines.map(({ name, status }) => (status === 'wrong' ? name : status));
    t.same(new Set(statuses), new Set(wrong === undefined ? [] : ['unproven', wrong]), explanation);
  }
});

t.test('a signed request that nobody can have made is refused', async (t) => {
  for (const request of ['GET /api/v1/a//b', 'POST /api/v1/rpc']) {
    const [body = ''] = sealAnswers(signer, [{ ...answer, request }]);
    const report = verify(body, { request: '' });
    t.match(report, { verdict: 'refused', result: null });
    t.match(lineOf(report, 'request'), { status: 'wrong' });
  }
});

t.test('a push frame and a body with blanks around it are verified too', async (t) => {
  t.equal(verify(`{"type":"balance","id":"\\"answer\\":","seq":1,"answer":${body}}`).verdict, 'proven');
  t.equal(verify(`\n  ${body}\n\n`).verdict, 'proven');
});

t.test('the published vectors are proven', async (t) => {
  for (const { body, cluster, canonicalRequest, nonce, resultHex } of testVectors.vectors) {
    const known = { publicKey: testVectors.publicKey, cluster, request: canonicalRequest, nonce: nonce ?? '' };
    t.match(verifyText(body, known, NOW_MS), { verdict: 'proven', result: Buffer.from(resultHex, 'hex').toString() });
  }
});

t.test('invalid input of the user is reported apart from the body', async (t) => {
  t.throws(() => verify(body, { publicKey: 'nobody' }), TypeError);
  t.throws(() => verify(body, { request: 'the balance' }), TypeError);
  t.throws(() => verify(body, { request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
});

t.test('no time in a receipt stops the page', async (t) => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (issuedAt, nowMs) => {
      const [late = ''] = sealAnswers(signer, [answer], issuedAt);
      const { lines } = verifyText(late, nothing, nowMs);
      return lines.some(({ name, explanation }) => name === 'issued' && explanation.startsWith('Issued '));
    }),
    { numRuns: 50 },
  );
  const [beyond = ''] = sealAnswers(newSigner(), [answer], Number.MAX_SAFE_INTEGER);
  t.match(lineOf(verifyText(beyond, nothing, 0), 'issued'), { explanation: 'Issued at a time that no calendar has.' });
});
