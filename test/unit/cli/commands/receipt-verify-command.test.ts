import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FAULT_EXPLANATIONS } from '../../../../src/receipts/verify/fault-explanations.ts';
import type { ReceiptFault } from '../../../../src/receipts/verify/receipt-error.ts';
import { type ChildProgram, runModule } from '../../../support/child-process.ts';
import { CLUSTER, newSigner, sealAnswers, type UnsealedAnswer } from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';
import { runSlotgate, type SlotgateOutput } from '../../../support/run-slotgate.ts';

/** Runs the command on a file with this text. */
async function verify(t: Test, args: readonly string[], text: string): Promise<SlotgateOutput> {
  const file = join(t.testdir(), 'input');
  writeFileSync(file, text);
  return runSlotgate(['receipt', 'verify', ...args, file]);
}

/** Runs the command on standard input, in a child process. */
function fromInput(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProgram {
  return runModule(new URL('../../../../src/main.js', import.meta.url), ['receipt', 'verify', ...args], env);
}

const signer = newSigner();
const about = (request: string, result: string, nonce: string | null = null): UnsealedAnswer => {
  return { request, slot: 42, commitment: 'confirmed', claim: 'observed', nonce, result };
};
const balance = 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const stream = 'SUB /api/v1/stream?receipts=1';
const known = ['--public-key', signer.publicKey, '--cluster', CLUSTER];
const [body = '', frame = '', bound = ''] = sealAnswers(signer, [
  about(balance, '{"lamports":9007199254740993,"text":"\\"answer\\":{}"}'),
  about(stream, '{"slot":42}'),
  about(balance, '{"lamports":1}', 'A'.repeat(22)),
]);
const result = '{"lamports":9007199254740993,"text":"\\"answer\\":{}"}';
const push = `{"type":"balance","id":"\\"answer\\":","address":"9Wz","seq":1,"answer":${body}}`;

t.test('it accepts the published vectors and prints the signed result', async (t) => {
  for (const { body, cluster, canonicalRequest, nonce, resultHex } of testVectors.vectors) {
    const args = ['--public-key', testVectors.publicKey, '--cluster', cluster, '--request', canonicalRequest];
    const said = await verify(t, nonce === null ? args : [...args, '--nonce', nonce], body);
    t.same(said, { code: 0, out: `${Buffer.from(resultHex, 'hex')}\n`, err: '' });
  }
});

t.test('a line end after the body is allowed', async (t) => {
  for (const end of ['', '\n', '\r\n'])
    t.same(await verify(t, [...known, '--request', balance], body + end), { code: 0, out: `${result}\n`, err: '' });
});

t.test('it reads standard input as well, whatever the settings of a gateway are', async (t) => {
  const child = fromInput([...known, '--request', balance], { SLOTGATE_PORT: 'nope' });
  child.process.stdin?.end(body);
  t.equal(await child.exit(), 0);
  t.equal(child.stdout(), `${result}\n`);
});

t.test('for an invalid receipt it exits with 1 and names the fault', async (t) => {
  const ask = [...known, '--request', balance];
  const cases: readonly [readonly string[], string, ReceiptFault][] = [
    [ask, body.replace('993', '992'), 'digest'],
    [ask, `${body}\n\n`, 'envelope'],
    [ask, '', 'envelope'],
    [ask, body.replace('"v":1', '"v":2'), 'malformed'],
    [ask, body.replace('"size":3', '"size":4'), 'signature'],
    [ask, bound, 'nonce'],
    [[...ask, '--nonce', 'A'.repeat(22)], body, 'nonce'],
    [[...known, '--request', 'GET /api/v1/slot'], body, 'request'],
    [['--public-key', CLUSTER, '--cluster', CLUSTER, '--request', balance], body, 'unknown-key'],
    [['--public-key', signer.publicKey, '--cluster', signer.publicKey, '--request', balance], body, 'cluster'],
    [[...ask, '--max-age', '60'], body, 'stale'],
  ];
  for (const [args, input, fault] of cases) {
    const err = `slotgate: the receipt is not valid: ${fault}. ${FAULT_EXPLANATIONS[fault]}\n`;
    t.same(await verify(t, args, input), { code: 1, out: '', err });
  }
  const child = fromInput(ask);
  child.process.stdin?.end(body.replace('993', '992'));
  t.equal(await child.exit(), 1);
  t.match(child.stderr(), /^slotgate: the receipt is not valid: digest\. The result is not the one [^\n]*\n$/);
});

t.test('age is checked only on request, and one of several keys is enough', async (t) => {
  const several = [...known, '--public-key', CLUSTER, '--request', balance];
  t.equal((await verify(t, [...several, '--max-age', '999999999'], body)).code, 0);
  t.equal((await verify(t, several, body)).code, 0);
  t.equal((await verify(t, [...several, '--nonce', 'A'.repeat(22)], bound)).out, '{"lamports":1}\n');
});

t.test('a usage error is 64, whatever the receipt', async (t) => {
  const ask = [...known, '--request', balance];
  for (const args of [
    [],
    known,
    ['--public-key', 'nobody', '--cluster', CLUSTER, '--request', balance],
    ['--public-key', signer.publicKey, '--cluster', 'mainnet', '--request', balance],
    [...known, '--request', 'POST /api/v1/rpc'],
    [...known, '--request', 'GET /api/v1/search?q=%zz'],
    [...ask, '--nonce', 'short'],
    [...ask, '--max-age', '-1'],
    [...ask, '--max-age', '1m'],
    [...ask, 'no-such-file'],
    [...ask, 'one', 'two'],
  ]) {
    const { code, out, err } = await runSlotgate(['receipt', 'verify', ...args]);
    t.same({ code, out }, { code: 64, out: '' }, args.join(' '));
    t.match(err, /^slotgate: [^\n]+\n$/);
  }
  t.match(await verify(t, [...ask, '--pubic-key=x'], body), { err: /the nearest known name is --public-key/ });
});

t.test('with --ndjson each line of a stream is verified by itself, frames and pushes alike', async (t) => {
  const ask = [...known, '--ndjson', '--request', stream, '--request', balance];
  const good = `{"valid":true,"request":"${balance}","slot":42,"result":${result}}`;
  const lines = [frame, push, body, push.replace('"balance"', '"subscribed"').replace('"seq":1', '"seq":0')];
  t.same(await verify(t, ask, lines.join('\n')), {
    code: 0,
    out: `{"valid":true,"request":"${stream}","slot":42,"result":{"slot":42}}\n${`${good}\n`.repeat(3)}`,
    err: '',
  });
  const mixed = [frame.replace('42', '43'), push, '{"type":"pong"}', '', push.replace('0993', '0992'), frame];
  const said = await verify(t, ask, `${mixed.join('\r\n')}\r\n`);
  t.equal(said.code, 1);
  t.same(
    said.out.split('\n').map((line) => line.slice(0, 32)),
    [
      '{"valid":false,"fault":"digest"}',
      good.slice(0, 32),
      '{"valid":false,"fault":"malformed"}'.slice(0, 32),
      '{"valid":false,"fault":"envelope"}'.slice(0, 32),
      '{"valid":false,"fault":"digest"}',
      `{"valid":true,"request":"${stream}`.slice(0, 32),
      '',
    ],
  );
  t.equal(
    said.err,
    'line 1: digest\nline 3: malformed\nline 4: envelope\nline 5: digest\nslotgate: 4 of 6 lines are not valid\n',
  );
  t.same(await verify(t, ask, ''), { code: 1, out: '', err: 'slotgate: the input has no line\n' });
});

t.test('a line is verified as soon as it arrives', async (t) => {
  const child = fromInput([...known, '--ndjson', '--request', stream]);
  t.teardown(() => child.process.kill('SIGKILL'));
  child.process.stdin?.write(`${frame}\n${frame.slice(0, 40)}`);
  await child.waitForOutput('"valid":true');
  child.process.stdin?.end(frame.slice(40));
  t.equal(await child.exit(), 0);
  t.equal(child.stdout().split('\n').length, 3);
});

t.test('it does not load the HTTP engine', async (t) => {
  const addons = (): string[] => {
    const report = process.report.getReport() as unknown as { sharedObjects: string[] }; // what Node documents
    return report.sharedObjects.filter((path) => path.endsWith('.node'));
  };
  await verify(t, [...known, '--request', balance], 'no body');
  t.same(addons(), []);
  await import('litesvm'); // it loads on each Node, as no engine does
  t.equal(addons().length, 1, 'an addon would be seen');
});
