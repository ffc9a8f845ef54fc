import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { checkNodeVersion } from '../../src/cli/check-node-version.ts';
import type { RunningGateway } from '../../src/cli/run-process.ts';
import { createKeyPressFilter } from '../../src/cli/same-key-press.ts';
import { formatBanner } from '../../src/cli/start-banner.ts';
import { Progress } from '../../src/cli/terminal/progress.ts';
import { describeResult } from '../../src/cli/terminal/result-words.ts';
import { WatchScreen } from '../../src/cli/terminal/watch-screen.ts';
import { FAULT_EXPLANATIONS } from '../../src/client/verify/fault-explanations.ts';
import type { ReceiptFault } from '../../src/client/verify/receipt-error.ts';
import { isApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { isKeyValid } from '../../src/gateway/access/api-keys/api-key-record.ts';
import { apiKeysPath, readApiKeys } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { appendUsage, usagePath } from '../../src/gateway/access/usage/usage-file.ts';
import { loadEngine } from '../../src/gateway/http/load-engine.ts';
import { listenOnPair } from '../../src/localnet/port-pair.ts';
import { EXAMPLE_ANSWERS } from '../../src/pages/docs/example-answers.ts';
import type { HealthReport } from '../../src/pages/index.ts';
import { indentJson } from '../../src/shared/domain/indent-json.ts';
import { visibleText } from '../../src/shared/domain/visible-text.ts';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { type ChildProgram, runModule } from '../support/child-process.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { CLUSTER, newSigner, sealAnswers, type UnsealedAnswer } from '../support/receipts/sealed-answers.ts';
import { allVectors, eventChainVectors, testVectors } from '../support/receipts/test-vectors.ts';
import { runSlotgate, type SlotgateOutput } from '../support/run-slotgate.ts';
import {
  errorBody,
  notificationJson,
  resultBody,
  ScriptedNode,
  SECRET,
  subscriptionId,
} from '../support/scripted-node.ts';
import { logLines, startStub } from '../support/stub-gateway.ts';

t.test('check-node-version', async (t) => {
  t.test('a Node older than 20.19 is refused with both versions', async (t) => {
    for (const version of ['16.20.2', '18.20.4', '20.9.0', '20.18.3'])
      t.throws(() => checkNodeVersion(version), {
        exitCode: 1,
        message: `this is Node ${version}, and slotgate needs Node 20.19`,
      });
  });

  t.test('every newer Node is accepted', async (t) => {
    for (const version of ['20.19.0', '20.20.2', '21.0.0', '22.11.0', '24.1.0', '26.10.0'])
      t.doesNotThrow(() => checkNodeVersion(version));
  });
});

t.test('keys-commands', async (t) => {
  /** Runs `slotgate keys …` on a temporary state folder. */
  const keysIn =
    (state: string) =>
    (...args: string[]) =>
      runSlotgate(['keys', ...args, '--state', state]);

  t.test('the life of a key: printed once, listed without itself, rotated, revoked', async (t) => {
    const state = t.testdir();
    const keys = keysIn(state);
    const made = await keys('create', '--tier', 'scale', '--label', 'a shop', '--per-ip', '50', '--expires', '90d');
    t.equal(made.code, 0);
    const key = made.out.trim();
    t.ok(isApiKey(key), 'the key alone is on standard output');
    t.match(made.err, `is in ${apiKeysPath(state)}; `);
    t.notMatch(made.err, 'created the state folder');
    const [record] = readApiKeys(apiKeysPath(state));
    const id = record?.id ?? '';
    t.match(record, { tier: 'scale', label: 'a shop', last4: key.slice(-4), perIpLimit: 50, revokedAt: null });
    t.ok(Math.abs(Date.parse(record?.expiresAt ?? '') - Date.now() - 90 * 86_400_000) < 60_000);

    const listed = await keys('list');
    t.match(listed.out, new RegExp(`^${id} +…${key.slice(-4)} +scale +valid .* a shop$`, 'm'));
    const { sha256: _, ...shown } = record ?? {};
    t.same(JSON.parse((await keys('list', '--json')).out), { keys: [shown] }, 'without its digest');
    t.notMatch(listed.out, key);

    const next = (await keys('rotate', id, '--grace', '24h')).out.trim();
    t.ok(isApiKey(next) && next !== key);
    const [old, heir] = readApiKeys(apiKeysPath(state));
    t.match(heir, { tier: 'scale', label: 'a shop', perIpLimit: 50, expiresAt: record?.expiresAt });
    t.ok(Date.parse(old?.revokedAt ?? '') > Date.now(), 'the old one stays valid for a while');
    t.match((await keys('list')).out, new RegExp(`^${id} .* valid .* ${old?.revokedAt} `, 'm'), 'and until when');

    t.match(await keys('rotate', id, '--grace', '48h'), {
      code: 1,
      err: `${id} ends at ${old?.revokedAt} already, which can only be made earlier`,
    });
    t.match(await keys('revoke', heir?.id ?? ''), { code: 0, out: `${heir?.id} is revoked\n` });
    t.match((await keys('list')).out, new RegExp(`^${heir?.id} .* revoked `, 'm'));
    const revoked = readApiKeys(apiKeysPath(state))[1];
    t.ok(revoked !== undefined && !isKeyValid(revoked, 0), 'also where a clock is behind');
    t.match(await keys('revoke', 'other'), { code: 1, err: `no key has the id other in ${apiKeysPath(state)}` });
    t.match(await keys('revoke', heir?.id ?? ''), { code: 1, err: /is revoked already/ });
  });

  t.test('a state folder that is new is named, since no running gateway has it', async (t) => {
    const state = join(t.testdir(), 'elsewhere');
    const keys = keysIn(state);
    t.match(await keys('list'), { code: 0, err: `there is no ${apiKeysPath(state)}: ` });
    t.match((await keys('create', '--tier', 'build', '--label', 'x')).err, `created the state folder ${state}: `);
    t.notMatch((await keys('create', '--tier', 'build', '--label', 'x')).err, 'created the state folder');
  });

  t.test('usage is printed by day, key and route', async (t) => {
    const state = t.testdir();
    const row = { day: '2026-06-01', route: '/slot', counts: [3, 2, 1, 0], units: 10, givenBack: 1 };
    appendUsage(usagePath(state), [
      { ...row, key: 'a' },
      { ...row, key: 'b' },
    ]);
    appendUsage(usagePath(state), [{ ...row, key: 'a' }]);
    const keys = keysIn(state);
    t.equal(
      (await keys('usage', 'a')).out,
      'day         key  route  answered  refused  limited  failed  units\n2026-06-01  a    /slot  6         4        2        0       18\n',
    );
    t.match((await keys('usage')).out, /^2026-06-01 {2}b .* 3 .* 9$/m);
    const { usage } = JSON.parse((await keys('usage', 'b', '--json')).out);
    const { day, route } = row;
    t.same(usage, [{ day, key: 'b', route, answered: 3, refused: 2, limited: 1, failed: 0, units: 9 }]);
  });

  t.test('errors are reported and change nothing', async (t) => {
    const state = t.testdir();
    const keys = keysIn(state);
    const create = (...args: string[]) => keys('create', '--tier', 'build', '--label', 'x', ...args);
    t.match(await keys('create', '--tier', 'free', '--label', 'x'), { code: 64, err: /build, scale/ });
    t.match(await keys('create', '--tier', 'build'), { code: 64, err: /--label/ });
    t.match(await create('--expires', 'soon'), { code: 64, err: /neither a date/ });
    t.match(await create('--expires', '2031-02-29'), { code: 64, err: /neither a date/ }, 'a day that its month lacks');
    for (const past of ['2020-01-31', '0h'])
      t.match(await create('--expires', past), { code: 64, err: /has passed: the key would never be valid/ });
    t.match(await create('--per-ip', '0'), { code: 64, err: /whole number/ });
    t.match(await keys('revoke', 'nobody'), { code: 1, err: /no key has the id nobody/ });
    t.match(await keys('rotate', 'nobody'), { code: 1, err: /no key has the id nobody/ });
    t.match(await keys('mint'), { code: 64, err: /keys create, keys list, keys revoke, keys rotate, keys usage/ });
    t.same(readApiKeys(apiKeysPath(state)), []);
    await create('--expires', '1h');
    const [key] = readApiKeys(apiKeysPath(state));
    const expired = { ...key, id: 'old', expiresAt: '2020-01-31T00:00:00.000Z' };
    writeFileSync(
      apiKeysPath(state),
      JSON.stringify({ ...JSON.parse(readFileSync(apiKeysPath(state), 'utf8')), keys: [expired] }),
    );
    t.match(await keys('rotate', 'old'), { code: 1, err: /old has expired, and so would its successor/ });
    t.same(readApiKeys(apiKeysPath(state)), [expired]);
  });

  t.test('a label cannot write to a terminal', async (t) => {
    const keys = keysIn(t.testdir());
    await keys('create', '--tier', 'build', '--label', '\u001b[2Jgone');
    t.match((await keys('list')).out, /\?\[2Jgone/);
  });
});

t.test('receipt-key-commands', async (t) => {
  /** Runs `slotgate receipt key …` on a state folder; returns output and exit code. */
  const commandsOver =
    (state: string, env: Readonly<Record<string, string>> = {}) =>
    (...args: string[]): Promise<SlotgateOutput> =>
      runSlotgate(['receipt', 'key', ...args, '--state', state], env);

  const rows = ({ out }: SlotgateOutput): readonly (readonly string[])[] =>
    out
      .split('\n')
      .filter((line) => /^(active|next|retired|revoked) /.test(line))
      .map((line) => line.split(/\s+/));
  const states = (said: SlotgateOutput): readonly (string | undefined)[] => rows(said).map(([state]) => state);
  const kid = (said: SlotgateOutput, n: number): string => rows(said)[n]?.[1] ?? '';

  function fails(t: Test, said: SlotgateOutput, code: number, why: RegExp): void {
    t.equal(said.code, code);
    t.match(said.err, why);
    t.match(said.err, /^slotgate: [^\n]+\n$/);
    t.equal(said.out, '');
  }

  t.test('the life of a key: created once, listed, rotated once at a time, revoked for good', async (t) => {
    const state = join(t.testdir(), 'state');
    const key = commandsOver(state, { NODE_ENV: 'production' });
    fails(t, await key('show'), 78, /there is no receipt key .*receipt-key\.pem: .*create/);
    const created = await key('create');
    t.equal(created.code, 0);
    t.match(created.out, /^active {3}[0-9a-f]{16} {2}[1-9A-HJ-NP-Za-km-z]{32,44}\n$/);
    fails(t, await key('create'), 1, /a key, or the record of one, exists already: .*receipt-key\.pem/);
    t.equal((await key('show')).out, created.out);

    const rotated = await key('rotate');
    t.same(states(rotated), ['active', 'next']);
    const from = Date.parse(/from (\S+)/.exec(rotated.out)?.[1] ?? '');
    t.ok(Math.abs(from - Date.now() - 86_400_000) < 60_000, 'a day from now');
    t.match(rotated.out, /SIGHUP/);
    t.equal(rotated.err, '');
    fails(t, await key('rotate'), 1, /is already pending/);

    const revoked = await key('revoke', kid(rotated, 1));
    t.same(states(revoked), ['active', 'revoked']);
    const soon = await key('rotate', '--after', '0');
    t.same(states(soon), ['retired', 'revoked', 'active']);
    t.match(soon.err, /less than a day/);
    const voided = await key('revoke', kid(soon, 2));
    t.same(states(voided), ['retired', 'revoked', 'revoked', 'active']);
    t.match(voided.out, `${kid(voided, 3)} signs instead`);
    t.equal(kid(voided, 0), kid(created, 0));
    t.same(states(await key('show')), ['retired', 'revoked', 'revoked', 'active']);
  });

  t.test('invalid arguments are reported and change nothing', async (t) => {
    const state = t.testdir();
    const key = commandsOver(state);
    await key('create');
    fails(t, await key('revoke', '0000000000000000'), 64, /no key has the id 0{16}/);
    for (const after of ['', 'soon', '-1', '8761'])
      fails(t, await key('rotate', `--after=${after}`), 64, /--after must be hours from 0 to 8760/);
    fails(t, await key('revoke'), 64, /<kid> is missing/);
    fails(t, await key('destroy'), 64, /unknown command receipt key destroy, the nearest known name is receipt key/);
    t.same(readdirSync(state), ['receipt-key.pem']);
  });

  t.test('a key that RECEIPT_KEY_FILE names has its history next to it', async (t) => {
    const dir = t.testdir();
    const file = join(dir, 'own', 'key');
    const key = commandsOver(join(dir, 'state'), { RECEIPT_KEY_FILE: file });
    t.equal((await key('create')).code, 0);
    t.same(states(await key('rotate', '--after', '0')), ['retired', 'active']);
    t.same(readdirSync(`${file}.d`).sort(), ['.gitignore', '1.json', '2.json', '2.pem']);
    t.notOk(existsSync(join(dir, 'state')));
    rmSync(join(`${file}.d`, '2.json'));
    rmSync(join(`${file}.d`, '1.json'));
    t.same(states(await key('show')), ['active']);
  });

  t.test('a key that is given inline cannot be changed here', async (t) => {
    const key = commandsOver(t.testdir(), { RECEIPT_KEY: 'ephemeral' });
    for (const verb of ['create', 'show', 'rotate']) fails(t, await key(verb), 78, /RECEIPT_KEY is set/);
  });
});

t.test('receipt-verify-command', async (t) => {
  /** Runs the command on a file with this text. */
  async function verify(t: Test, args: readonly string[], text: string | Uint8Array): Promise<SlotgateOutput> {
    const file = join(t.testdir(), 'input');
    writeFileSync(file, text);
    return runSlotgate(['receipt', 'verify', ...args, file]);
  }

  /** Runs the command on standard input, in a child process. */
  function fromInput(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProgram {
    return runModule(new URL('../../src/main.js', import.meta.url), ['receipt', 'verify', ...args], env);
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
    for (const { body, cluster, canonicalRequest, nonce, resultHex } of allVectors) {
      const args = ['--public-key', testVectors.publicKey, '--cluster', cluster, '--request', canonicalRequest];
      const said = await verify(t, nonce === null ? args : [...args, '--nonce', nonce], body);
      const [, gave, read] = /"agreed":"(\d+)\/(\d+)"/.exec(body) ?? [];
      const err = gave === undefined ? '' : `confirmed by ${gave} of ${read} operators\n`;
      t.same(said, { code: 0, out: `${Buffer.from(resultHex, 'hex')}\n`, err });
    }
  });

  t.test('--min-agreed refuses what fewer operators gave', async (t) => {
    for (const { body, cluster, canonicalRequest, nonce } of allVectors) {
      const [, agreed = '1'] = /"agreed":"(\d+)/.exec(body) ?? [];
      const args = ['--public-key', testVectors.publicKey, '--cluster', cluster, '--request', canonicalRequest];
      const bound = nonce === null ? args : [...args, '--nonce', nonce];
      const { code } = await verify(t, [...bound, '--min-agreed', agreed], body);
      const refused = await verify(t, [...bound, '--min-agreed', `${Number(agreed) + 1}`], body);
      t.same([code, refused.code], [0, 1]);
      t.match(refused.err, /not valid: agreed\. Fewer operators/);
    }
    t.equal((await runSlotgate(['receipt', 'verify', ...known, '--request', balance, '--min-agreed', '0'])).code, 64);
  });

  t.test('--chain refuses an event that does not follow the one before it', async (t) => {
    const { publicKey, cluster, request, frames, accepted, refused } = eventChainVectors;
    const args = ['--chain', '--cluster', cluster, '--request', request, '--public-key'];
    const streamOf = (order: readonly number[]): string =>
      order.map((at) => `id: ${at}\nevent: change\ndata: ${frames[at]}\n\n`).join('');
    const verifyOrder = (order: readonly number[], key = publicKey) => verify(t, [...args, key], streamOf(order));
    for (const order of accepted) {
      const { code, out, err } = await verifyOrder(order);
      t.same([code, err, out.match(/"valid":true/g)?.length], [0, '', order.length]);
    }
    for (const [name, order] of Object.entries(refused)) {
      const { code, out } = await verifyOrder(order);
      t.same([code, out.includes('{"valid":false,"fault":"chain"}')], [1, true], name);
    }
    const other = await verifyOrder([0, 1], signer.publicKey);
    t.same([other.code, other.out.match(/"fault":"unknown-key"/g)?.length], [1, 2], 'another key');
    const whole = streamOf([0, 1]);
    const cut = await verify(t, [...args, publicKey], whole.slice(0, whole.length - 400));
    t.same([cut.code, cut.out.match(/"valid":(true|false)/g)], [1, ['"valid":true', '"valid":false']], 'cut in half');
    const noText = Buffer.concat([
      Buffer.from(streamOf([0])),
      Buffer.from([0x7b, 0xff, 0x0a]),
      Buffer.from(streamOf([1])),
    ]);
    const { code, out } = await verify(t, [...args, publicKey], noText);
    t.same([code, out.match(/"valid":\w+/g)], [1, ['"valid":true', '"valid":false', '"valid":true']], 'not UTF-8');
    const ended = await verify(t, [...args, publicKey], `retry: 1000\n\n${whole}event: end\ndata: {"code":1001}\n\n`);
    t.equal(ended.code, 0, 'what is no event is skipped');
    t.match(await verify(t, [...args, publicKey], body), { code: 1, err: 'slotgate: the input has no event\n' });
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
    const options = [...known, '--request', balance];
    const cases: readonly [readonly string[], string, ReceiptFault][] = [
      [options, body.replace('993', '992'), 'digest'],
      [options, `${body}\n\n`, 'envelope'],
      [options, '', 'envelope'],
      [options, body.replace('"v":1', '"v":2'), 'malformed'],
      [options, body.replace('"size":3', '"size":4'), 'signature'],
      [options, bound, 'nonce'],
      [[...options, '--nonce', 'A'.repeat(22)], body, 'nonce'],
      [[...known, '--request', 'GET /api/v1/slot'], body, 'request'],
      [['--public-key', CLUSTER, '--cluster', CLUSTER, '--request', balance], body, 'unknown-key'],
      [['--public-key', signer.publicKey, '--cluster', signer.publicKey, '--request', balance], body, 'cluster'],
      [[...options, '--max-age', '60'], body, 'stale'],
    ];
    for (const [args, input, fault] of cases) {
      const err = `slotgate: the receipt is not valid: ${fault}. ${FAULT_EXPLANATIONS[fault]}\n`;
      t.same(await verify(t, args, input), { code: 1, out: '', err });
    }
    const child = fromInput(options);
    child.process.stdin?.end(body.replace('993', '992'));
    t.equal(await child.exit(), 1);
    t.match(child.stderr(), /^slotgate: the receipt is not valid: digest\. The result is not the signed one[^\n]*\n$/);
  });

  t.test('age is checked only on request, and one of several keys is enough', async (t) => {
    const several = [...known, '--public-key', CLUSTER, '--request', balance];
    t.equal((await verify(t, [...several, '--max-age', '999999999'], body)).code, 0);
    t.equal((await verify(t, several, body)).code, 0);
    t.equal((await verify(t, [...several, '--nonce', 'A'.repeat(22)], bound)).out, '{"lamports":1}\n');
  });

  t.test('a usage error is 64, whatever the receipt', async (t) => {
    const options = [...known, '--request', balance];
    for (const args of [
      [],
      known,
      ['--public-key', 'nobody', '--cluster', CLUSTER, '--request', balance],
      ['--public-key', signer.publicKey, '--cluster', 'mainnet', '--request', balance],
      [...known, '--request', 'POST /api/v1/rpc'],
      [...known, '--request', 'GET /api/v1/search?q=%zz'],
      [...options, '--nonce', 'short'],
      [...options, '--max-age', '-1'],
      [...options, '--max-age', '1m'],
      [...options, 'no-such-file'],
      [...options, 'one', 'two'],
    ]) {
      const { code, out, err } = await runSlotgate(['receipt', 'verify', ...args]);
      t.same({ code, out }, { code: 64, out: '' }, args.join(' '));
      t.match(err, /^slotgate: [^\n]+\n$/);
    }
    t.match(await verify(t, [...options, '--pubic-key=x'], body), { err: /the nearest known name is --public-key/ });
  });

  t.test('with --ndjson each line of a stream is verified by itself, frames and pushes alike', async (t) => {
    const options = [...known, '--ndjson', '--request', stream, '--request', balance];
    const good = `{"valid":true,"request":"${balance}","slot":42,"result":${result}}`;
    const lines = [frame, push, body, push.replace('"balance"', '"subscribed"').replace('"seq":1', '"seq":0')];
    t.same(await verify(t, options, lines.join('\n')), {
      code: 0,
      out: `{"valid":true,"request":"${stream}","slot":42,"result":{"slot":42}}\n${`${good}\n`.repeat(3)}`,
      err: '',
    });
    const mixed = [frame.replace('42', '43'), push, '{"type":"pong"}', '', push.replace('0993', '0992'), frame];
    const said = await verify(t, options, `${mixed.join('\r\n')}\r\n`);
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
    t.same(await verify(t, options, ''), { code: 1, out: '', err: 'slotgate: the input has no line\n' });
    const absent = await runSlotgate(['receipt', 'verify', 'absent', ...options]);
    t.match(absent, { code: 64, out: '', err: /^slotgate: can't read absent: ENOENT: [^\n]+\n$/ });
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

  t.test('it does not load the HTTP engine', (t) => {
    const modules = ['../../src/cli/program.js', '../../../node_modules/litesvm/dist/internal.js'].map(
      (path) => new URL(path, import.meta.url).href,
    );
    const program = `
      const [program, addon, ...args] = process.argv.slice(1);
      let addons = 0;
      const { dlopen } = process;
      process.dlopen = (...opened) => {
        addons++;
        dlopen.apply(process, opened);
      };
      const { runCommandLine } = await import(program);
      const { message } = await runCommandLine(['node', 'slotgate', ...args]).catch((thrown) => thrown);
      const loaded = addons;
      await import(addon); // it loads on each Node, as no engine does
      console.log(message, loaded, addons);`;
    const body = join(t.testdir({ body: 'no body' }), 'body');
    const args = [
      '--input-type=module',
      '-e',
      program,
      ...modules,
      'receipt',
      'verify',
      ...known,
      '--request',
      balance,
    ];
    const { stdout, stderr } = spawnSync(process.execPath, [...args, body], { encoding: 'utf8' });
    t.match(stdout, /is not valid.* 0 1\n$/, stderr);
    t.end();
  });
});

t.test('program', async (t) => {
  t.test('what no command was named for loads a small part of the program', async (t) => {
    const main = new URL('../../src/main.js', import.meta.url); // the bundle, from dist/test/unit
    const texts = new Map<string, string>();
    const load = (url: URL): void => {
      if (texts.has(url.href)) return;
      texts.set(url.href, readFileSync(url, 'utf8'));
      const imports = /^(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*["'](\.[^"']+)["']/gm;
      for (const [, path = ''] of texts.get(url.href)?.matchAll(imports) ?? []) load(new URL(path, url));
    };
    load(main);
    const [, program = ''] = /import\(["'](\.\/bundle\/program-[^"']+)["']\)/.exec(texts.get(main.href) ?? '') ?? [];
    load(new URL(program, main));
    const bytes = [...texts.values()].reduce((sum, { length }) => sum + length, 0);
    t.ok(bytes > 100_000 && bytes < 250_000, `${bytes} bytes, most of them commander's`);
  });

  t.test('an error of the system is said without the place in the code', (t) => {
    const state = join(t.testdir({ file: '' }), 'file');
    const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [main, 'keys', 'usage', '--state', state], {
      encoding: 'utf8',
    });
    t.match({ status, stderr }, { status: 1, stderr: /^slotgate: ENOTDIR: [^\n]*usage\.log'\n$/ });
    const hostile = spawnSync(process.execPath, [main, '--set', 'host=\u202e'], { encoding: 'utf8' });
    t.match(hostile.stderr, /got "\\u202e" \(--set host\)\n$/, 'and shows what no reader would see');
    t.end();
  });

  const skip = spawnSync('bash', ['--version']).error === undefined ? false : 'bash is not installed';
  t.test('a reader that closes the pipe ends a command; its exit code is neither done nor refuted', { skip }, (t) => {
    const lines = t.testdir({ lines: 'no receipt\n'.repeat(10_000) }); // more results than a pipe holds
    const key = newSigner().publicKey;
    const expected = ['--public-key', key, '--cluster', CLUSTER, '--request', 'GET /api/v1/slot'];
    const args = [fileURLToPath(new URL('../../src/main.js', import.meta.url)), 'receipt', 'verify', '--ndjson'];
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['-c', 'set -o pipefail; "$0" "$@" | head -1', process.execPath, ...args, `${lines}/lines`, ...expected],
      { encoding: 'utf8' },
    );
    t.equal(status, 141);
    t.match(stdout, /^\{"valid":false,.*\}\n$/);
    t.notMatch(stderr, /EPIPE/);
    t.end();
  });

  const isFull = existsSync('/dev/full') ? false : 'this system has no full device';
  t.test('a command says when it can not write its output', { skip: isFull }, (t) => {
    const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
    const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const;
    const { status, stderr } = spawnSync(process.execPath, [main, '--version'], {
      stdio: [...stdio],
      encoding: 'utf8',
    });
    t.match({ status, stderr }, { status: 1, stderr: /^slotgate: can't write the output: ENOSPC[^\n]*\n$/ });
    t.end();
  });

  t.test('the help of every command has examples', async (t) => {
    const helpOf = async (path: readonly string[]): Promise<void> => {
      const { out } = await runSlotgate([...path, '--help']);
      const [, list = ''] = /^Commands:\n((?: .*\n)+)/m.exec(out) ?? [];
      const names = [...list.matchAll(/^ {2}([\w|]+)/gm)].map(([, name = '']) => name.split('|')[0] ?? '');
      if (names.length === 0) t.match(out, /^Examples:\n {2}\S/m, path.join(' '));
      for (const name of names.filter((name) => name !== 'help')) await helpOf([...path, name]);
    };
    await helpOf([]);
  });
});

t.test('stake-commands', async (t) => {
  const SECRET = new Uint8Array(32).fill(5);
  const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));
  const HOST = ['--host', 'gateway.example'];

  const sign = (text: string): string => bs58.encode(ed25519.sign(new TextEncoder().encode(text), SECRET));

  const stake = (...args: readonly string[]): Promise<SlotgateOutput> => runSlotgate(['stake', ...args]);

  t.test('the printed text is the one to sign, and its signature is accepted', async (t) => {
    const text = await stake('text', '--wallet', WALLET, ...HOST);
    t.equal(text.code, 0);
    const [, issued = ''] = /^gateway\.example stake proof v1\nwallet: \w+\nissued: (\d+)$/.exec(text.out) ?? [];
    t.equal(text.err, `X-Stake-Wallet: ${WALLET}\nX-Stake-Issued: ${issued}\n`);
    const proof = ['--wallet', WALLET, '--issued', issued, '--signature', sign(text.out)];
    t.match(await stake('check', ...proof, ...HOST), { code: 0, out: 'the stake proof is valid\n' });
    const bySetting = await stake('check', ...proof, '--set', 'stake.host=gateway.example');
    t.equal(bySetting.code, 0);
    const elsewhere = await stake('check', ...proof, '--host', 'other.example');
    t.match(elsewhere, { code: 1, out: '', err: 'the stake proof is not valid: the wallet did not sign this text' });
  });

  t.test('a time can be given, and an expired one is rejected', async (t) => {
    const { out } = await stake('text', '--wallet', WALLET, '--issued', '5', ...HOST);
    t.match(out, /issued: 5$/);
    const proof = ['--wallet', WALLET, '--issued', '5', '--signature', sign(out)];
    t.match(await stake('check', ...proof, ...HOST), { code: 1, err: /more than a day ago/ });
  });

  t.test('missing and invalid options are reported', async (t) => {
    t.match(await stake('text', '--wallet', WALLET), {
      code: 64,
      err: /--host or the setting stake\.host/,
    });
    t.match(await stake('text', '--wallet', 'me', ...HOST), { code: 64, err: /not an address/ });
    t.match(await stake('text', '--wallet', WALLET, '--issued', '1.5', ...HOST), {
      code: 64,
      err: /not a time/,
    });
    t.match(await stake('text', ...HOST), { code: 64, err: /--wallet/ });
    t.match(await stake(), { code: 64, err: 'stake needs one of text, check' });
  });
});

t.test('doctor', async (t) => {
  interface PrintedFinding {
    readonly verdict: string;
    readonly name: string;
    readonly finding: string;
    readonly fix?: string;
  }

  /** Runs the doctor, over the engine that loads everywhere; returns what is not in order, by name, and its exit code. */
  async function examine(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { code, out, err } = await runSlotgate(
      ['doctor', '--json', '--port', '0', '--admin-port', '0', '--set', 'http.engine=node', ...args],
      env,
    );
    const { findings }: { readonly findings: readonly PrintedFinding[] } = JSON.parse(out);
    const faults = new Map(findings.filter(({ verdict }) => verdict !== 'ok').map((fault) => [fault.name, fault]));
    return { code, err, text: out, faults };
  }

  const answerAll = ['getVersion', 'getFirstAvailableBlock'] as const;

  /** Starts a node in order, which has news for every subscription. */
  async function startNode(t: Test): Promise<ScriptedNode> {
    const node = await ScriptedNode.start();
    t.teardown(() => node.close());
    const replies = node.replies as Record<string, ScriptedNode['replies']['getSlot']>;
    for (const method of answerAll) replies[method] = method === 'getVersion' ? '{"solana-core":"3.0.0"}' : '0';
    node.onPubsubRequest = (socket, call) => {
      socket.send(resultBody(call, subscriptionId(call)));
      socket.send(notificationJson(call.method, subscriptionId(call), '{}'));
    };
    const { READ_METHODS } = await import('../../src/shared/domain/rpc-methods.ts');
    for (const method of READ_METHODS) replies[method] ??= 'null';
    return node;
  }

  /** Returns the flag that names a node, with keys in both URLs. */
  const upstream = (node: ScriptedNode): readonly string[] => {
    const { url, wsUrl } = node.nodeOptions('node-1');
    return ['--upstream', `${url},${wsUrl}`];
  };

  /** Asserts that a fault is named with a fix, and that nothing else is. */
  function names(t: Test, found: Awaited<ReturnType<typeof examine>>, faults: Readonly<Record<string, RegExp>>): void {
    t.same([...found.faults.keys()].sort(), Object.keys(faults).sort(), found.text);
    for (const [name, finding] of Object.entries(faults)) {
      const fault = found.faults.get(name);
      t.match(fault?.finding, finding, name);
      t.ok(fault?.fix, `${name} has a fix`);
    }
    const fails = [...found.faults.values()].filter(({ verdict }) => verdict === 'fail').length;
    t.equal(found.code, fails > 0 ? 1 : 0);
    t.notMatch(found.text + found.err, SECRET, 'no secret');
  }

  t.test('a machine and a node in order have no finding but ok', async (t) => {
    const node = await startNode(t);
    names(t, await examine([...upstream(node), '--state', `${t.testdir()}/new`], { RECEIPT_KEY: 'ephemeral' }), {
      'receipt key': /^ephemeral: (?!.*never signs exact)/,
    });
  });

  t.test('the HTTP engine is named, and what it does worse than another', async (t) => {
    const node = await startNode(t);
    const args = [...upstream(node), '--state', `${t.testdir()}/new`, '--set', 'http.engine=auto'];
    const { text, faults } = await examine(args, { RECEIPT_KEY: 'ephemeral' });
    const { engine, drawback } = await loadEngine('auto');
    t.match(text, `"name":"HTTP engine","finding":"${engine.name} ${engine.version}`);
    t.equal(faults.get('HTTP engine')?.fix, drawback);
  });

  t.test('a proxy that a running gateway does not trust is named', async (t) => {
    const node = await startNode(t);
    let count = 0;
    let status: object | undefined;
    const admin = createServer(({ url }, response) =>
      response.end(
        url === '/statusz?format=json'
          ? JSON.stringify(status)
          : `# TYPE slotgate_untrusted_forwarded_total counter\nslotgate_untrusted_forwarded_total ${count}\nslotgate_x 5\n`,
      ),
    );
    await new Promise<void>((resolve) => admin.listen(0, '127.0.0.1', resolve));
    t.teardown(() => admin.close());
    const { port } = admin.address() as AddressInfo; // it listens on a TCP port
    const args = [...upstream(node), '--state', `${t.testdir()}/new`, '--admin-port', String(port)];
    const inUse = { 'admin port': /in use/, 'receipt key': /^ephemeral: / }; // for all else it is another program
    const other = await examine(args, { RECEIPT_KEY: 'ephemeral' });
    names(t, other, inUse);
    t.equal(other.faults.get('admin port')?.verdict, 'fail', 'a port that was chosen is not replaced');
    count = 120;
    status = { slotgate: { version: '1.2.3' } };
    const found = await examine(args, { RECEIPT_KEY: 'ephemeral' });
    t.match(found.text, /"admin port","finding":"[\d.:]+ is held by a running slotgate 1\.2\.3"/);
    names(t, found, {
      'receipt key': inUse['receipt key'],
      'trusted proxies': /has refused 120 requests with X-Forwarded-For from a proxy/,
    });
    t.match(found.faults.get('trusted proxies')?.fix, /list it in trustedProxies/);
  });

  t.test('what keeps an embedded cluster from its start is named', async (t) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    t.teardown(() => other.close());
    const { port } = other.address() as AddressInfo; // it listens on a TCP port
    const sets = [`embedded.port=${port}`, `embedded.geyserPort=${port}`].flatMap((each) => ['--set', each]);
    const args = [
      ...sets,
      '--state',
      `${t.testdir()}/new`,
      '--set',
      `cluster=${'1'.repeat(32)}`,
      '--host',
      '192.0.2.1',
    ];
    names(t, await examine(args, { RECEIPT_KEY: 'ephemeral' }), {
      'embedded port': /in use; embedded\.port chooses another$/,
      'Geyser port': /in use; embedded\.geyserPort chooses another$/,
      nodes: /^none are set, and an embedded cluster is never 1{32}$/,
      port: /this machine does not have the address$/, // a free port has one, too
      'receipt key': /^ephemeral: /,
    });
    const ofCluster = await examine(['--port', '8899', '--state', `${t.testdir()}/new`]);
    t.match(ofCluster.text, /"embedded port","finding":"any free one"/, 'the gateway itself has the usual one');
  });

  t.test('the port after that of a running gateway is its own', async (t) => {
    const node = await startNode(t);
    const document = JSON.stringify({ info: { title: 'slotgate', version: '1.2.3' } });
    const [first, next] = [0, 0].map(() => createServer((_, response) => response.end(document))) as [Server, Server];
    const { port } = await listenOnPair(first, next, {});
    t.teardown(() => [first, next].map((server) => server.close()));
    const args = [...upstream(node), '--state', `${t.testdir()}/new`, '--port', `${port}`];
    t.match(
      (await examine(args, { RECEIPT_KEY: 'ephemeral' })).text,
      /:\d+ is held by a running slotgate 1\.2\.3; the next one, .* pubsub, is held by a running slotgate 1\.2\.3"/,
    );
  });

  t.test('planted faults of this machine are named with a fix', async (t) => {
    const node = await startNode(t);
    const run = (args: readonly string[], env?: Readonly<Record<string, string>>) =>
      examine([...upstream(node), ...args], env);
    const folder = t.testdir({ state: {}, file: '' });
    const state = `${folder}/state`;
    chmodSync(state, 0o700);
    const inState = ['--state', state];

    names(t, await run(['--set', 'cache.byte=1']), { settings: /unknown setting cache\.byte, .* cache\.bytes/ });
    names(t, await run(['--state', `${folder}/file`]), { 'state folder': /is no folder/ });

    const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    t.teardown(() => other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo; // it listens on TCP
    names(t, await run([...inState, '--port', `${port}`]), { port: /the port is in use/ });
    const nowhere = [
      '--host',
      '192.0.2.1',
      '--set',
      'admin.host=192.0.2.1',
      '--port',
      '18787',
      '--admin-port',
      '18789',
    ];
    const elsewhere = await run([...inState, ...nowhere]);
    names(t, elsewhere, { port: /does not have the address/, 'admin port': /does not have the address/ });
    for (const { verdict, fix } of elsewhere.faults.values())
      t.match([verdict, fix], ['fail', /choose an address of this machine/]);

    writeFileSync(`${state}/receipt-key.pem`, 'no key', { mode: 0o600 });
    writeFileSync(`${state}/keys.json`, '{', { mode: 0o600 });
    names(t, await run(inState), { 'receipt key': /can't be used/, 'API keys': /is not JSON/ });

    mkdirSync(`${folder}/open`);
    chmodSync(`${folder}/open`, 0o755);
    t.equal((await runSlotgate(['receipt', 'key', 'create', '--state', `${folder}/open`])).code, 0);
    chmodSync(`${folder}/open/receipt-key.pem`, 0o644);
    names(t, await run(['--state', `${folder}/open`]), {
      'state folder': /open to others \(mode 755\)/,
      'receipt key': /has mode 644, others can use it/,
    });

    const shared = await run(['--set', 'workers.count=2', '--state', `${folder}/new`], { RECEIPT_KEY: 'ephemeral' });
    const engine = await loadEngine('node', true).then(
      () => ({}),
      () => ({ 'HTTP engine': /^workers share a port over node:http from Node 22\.12 on/ }),
    );
    names(t, shared, { ...engine, 'receipt key': /RECEIPT_KEY=ephemeral is for one process/ });
    const inFleet = ['--redis', 'redis://127.0.0.1:1', '--state', `${folder}/new`];
    names(t, await run([...inFleet, '--set', `redis.ca=${folder}/none`]), { Redis: /^redis\.ca: can't read/ });

    const huge = [
      'cache.bytes=1099511627776',
      'live.accounts=1000000',
      'upstreamPolicy.connections=10000',
      'workers.count=4',
    ].flatMap((each) => ['--set', each]);
    names(t, await run([...huge, '--state', `${folder}/new`], { SLOTGATE_PORT: 'tcp://10.0.0.1:8787' }), {
      ...engine,
      environment: /enableServiceLinks/,
      memory: /the cache 1048576 MiB, past versions 256 MiB, 4 workers 1024 MiB, the rest 1200 MiB$/,
      'open files': /slotgate uses \d{5} itself/,
    });
  });

  t.test('planted faults of nodes are named with a fix', async (t) => {
    const state = ['--state', `${t.testdir()}/new`];
    const run = (...args: readonly string[]) => examine([...args, ...state]);

    const missing = await startNode(t);
    await missing.close();
    names(t, await run(...upstream(missing)), { 'node-1 HTTP': /^connection refused$/ });

    const faulty = await startNode(t);
    const { replies } = faulty;
    replies.getBlock = (response, call) =>
      response.end(errorBody(call, '{"code":-32601,"message":"Method not found"}'));
    replies.getTransaction = (response, call) =>
      response.end(
        errorBody(call, `{"code":-32000,"message":"getTransaction is not available on the plan of ${SECRET}"}`),
      );
    let reads = 0;
    replies.getSlot = (response, call) => {
      const lag = { processed: 0, confirmed: 1, finalized: 200 }[call.params[0]?.commitment as 'processed'] ?? 200;
      response.setHeader('date', new Date(Date.now() - 60_000).toUTCString());
      response.end(resultBody(call, `${1000 - lag + (reads++ % 2) * 5}`));
    };
    replies.getGenesisHash = (response, call) => {
      response.setHeader('date', new Date(Date.now() - 60_000).toUTCString());
      response.end(resultBody(call, '"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"'));
    };
    faulty.onPubsubRequest = (socket, call) => {
      if (call.params[0] === CLOCK_SYSVAR) socket.send(errorBody(call, '{"code":-32005,"message":"too many"}'));
      else if (call.method === 'programSubscribe')
        socket.send(errorBody(call, `{"code":-32601,"message":"no programSubscribe for ${SECRET}"}`));
      else {
        socket.send(resultBody(call, subscriptionId(call)));
        socket.send(notificationJson(call.method, subscriptionId(call), '{}'));
      }
    };
    const cluster = ['--set', 'cluster=5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'];
    names(t, await run(...upstream(faulty), ...cluster), {
      'node-1 cluster': /^devnet EtWT.*, but the setting cluster is 5eykt/,
      'node-1 slots': /^processed \d+, confirmed \d+ behind, finalized \d+ behind$/,
      'node-1 reads': /slots went back by 5: it is many nodes/,
      'node-1 methods': /^19 of 21 methods; refused: (getBlock, getTransaction|getTransaction, getBlock)$/,
      'node-1 accountSubscribe': /^refused: error -32005 too many$/,
      'node-1 programSubscribe': /refused: error -32601/,
      clock: /^(59|60|61) s ahead of the nodes$/,
    });
  });

  t.test('nodes are compared, and one without a WebSocket or over its limit is named', async (t) => {
    const state = ['--state', `${t.testdir()}/new`];
    const [ahead, behind, limited] = await Promise.all([startNode(t), startNode(t), startNode(t)]);
    ahead.slots = { processed: 200, confirmed: 198, finalized: 168 };
    const { url } = behind.nodeOptions('');
    limited.replies.getSlot = (response) => response.writeHead(429).end();
    const found = await examine([
      ...[...upstream(ahead), '--upstream', `${url},ws://127.0.0.1:1/${SECRET}`],
      ...[...upstream(limited), ...state],
    ]);
    names(t, found, {
      'node-2 lag': /^100 slots behind the newest node$/,
      'node-2 WebSocket': /^connection refused$/,
      'node-3 slots': /does not return its slots/,
      'node-3 reads': /HTTP 429/,
      'node-3 methods': /HTTP 429/,
    });
    const text = await runSlotgate(['doctor', '--port', '0', '--admin-port', '0', ...upstream(ahead), ...state]);
    t.equal(process.title, 'slotgate doctor', 'the list of processes shows no argument');
    t.match(text.out, /^ok {4}node-1 {19}http:\/\/127\.0\.0\.1:\d+\/\*\*\*, ws:\/\/127\.0\.0\.1:\d+\/\*\*\*$/m);
    t.match(text.out, /^ok {4}node-1 slots +processed 200, confirmed 2 behind, finalized 32 behind$/m);
    t.notMatch(text.out, '\u001b');
  });

  t.test('what a server has otherwise than agave is no fault of the node', async (t) => {
    const state = ['--state', `${t.testdir()}/new`];
    const key = { RECEIPT_KEY: 'ephemeral' };
    const index = await startNode(t);
    const { getSlot } = index.replies;
    index.replies.getVersion = '{"solana-core":"4.3.0-cloudbreak0.1.0"}';
    index.replies.getSlot = (response, call) => {
      if (call.params[0]?.commitment === 'processed')
        response.end(errorBody(call, '{"code":-32003,"message":"PROCESSED_COMMITMENT_NOT_SUPPORTED"}'));
      else if (typeof getSlot === 'function') getSlot(response, call);
    };
    const found = await examine([...upstream(index), ...state], key);
    names(t, found, { 'receipt key': /^ephemeral: / });
    t.match(found.text, '"name":"node-1 version","finding":"cloudbreak 4.3.0-cloudbreak0.1.0"');
    t.match(found.text, '"finding":"processed 98, confirmed 0 behind, finalized 30 behind"');
    t.match(found.text, '"name":"node-1 WebSocket","finding":"cloudbreak has none: its slots are polled"');
    t.equal(index.handshakes, 0);

    let refusals = 0;
    index.replies.getSlot = (response, call) => {
      refusals++;
      response.end(errorBody(call, '{"code":-32003,"message":"PROCESSED_COMMITMENT_NOT_SUPPORTED"}'));
    };
    index.replies.getVersion = (response) => response.end(' '.repeat(65_537));
    const refusing = await examine([...upstream(index), ...state, '--set', 'upstreamPolicy.maxBytes=65536'], key);
    t.match(refusing.faults.get('node-1 version')?.finding, /^a response of more bytes than upstreamPolicy\.maxBytes$/);
    t.match(refusing.faults.get('node-1 slots')?.finding, 'does not return its slots');
    t.ok(refusals < 30, `one refusal is an answer at any other commitment: ${refusals} calls`);

    const validator = await startNode(t);
    validator.replies.getVersion = '{"solana-core":"26.08.1","feature-set":1}';
    validator.replies.getBlock = (response) => response.writeHead(501).end();
    names(t, await examine([...upstream(validator), ...state], key), {
      'receipt key': /^ephemeral: /,
      'node-1 methods': /20 of 21 methods; refused: getBlock$/,
    });
  });
});

t.test('run-process', async (t) => {
  t.test('it says in one line where it listens, goes on after SIGHUP, and closes on SIGTERM', async (t) => {
    const child = await startStub(t, '200');
    t.match(logLines(child), [{ level: 'info', msg: 'listening', url: 'http://127.0.0.1:1', cluster: 'genesis' }]);
    t.equal(logLines(child).length, 1);
    child.process.kill('SIGHUP');
    await child.waitForOutput('reloaded');
    child.process.kill('SIGTERM');
    t.equal(await child.exit(), 0);
    t.match(child.stdout(), /"closing".*closed\n$/s);
  });

  t.test('it counts once also where closing holds the thread for longer than a key press lasts', async (t) => {
    const clock = new ManualClock();
    const isSameKeyPress = createKeyPressFilter(clock);
    t.equal(isSameKeyPress(), false);
    clock.advance(5000);
    t.equal(isSameKeyPress(), true, 'no signal that came before was handled yet');
    await new Promise(setImmediate);
    t.equal(isSameKeyPress(), false);
  });

  t.test('a second signal ends the process immediately', async (t) => {
    const child = await startStub(t, '60000');
    child.process.kill('SIGTERM');
    await child.waitForOutput('closing');
    const again = setInterval(() => child.process.kill('SIGTERM'), 20); // until it counts as another one
    t.equal(await child.exit(), 1);
    clearInterval(again);
    t.notMatch(child.stdout(), /closed/);
  });
});

t.test('start-banner', async (t) => {
  const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
  const gateway: RunningGateway = {
    url: 'http://127.0.0.1:8787',
    cluster: MAINNET,
    embedded: null,
    admin: 'http://127.0.0.1:8789',
    publicKey: '8Tzxqy7nJ3fSPu3yYxdpKuc147dw2N9d5eykt4UspVA5',
    receiptKeyPath: '.slotgate/receipt-key.pem',
    receiptMode: 'exact',
    nodes: () => [
      { id: 'rpc-1', status: 'ok', behindSlots: 0 },
      { id: 'rpc-2', status: 'behind', behindSlots: 12 },
    ],
    reload() {},
    close: async () => {},
  };
  const facts = { version: '1.2.3', startMs: 912, pages: ['/', '/docs'], operators: undefined };
  const plain = (changes: Partial<RunningGateway> = {}): string =>
    stripVTControlCharacters(formatBanner({ ...gateway, ...changes }, facts));

  t.test('a banner shows the addresses, the cluster, the nodes and the key', async (t) => {
    t.equal(
      plain(),
      `slotgate 1.2.3   mainnet-beta 5eyk..2N9d   ready in 0.9 s
API     http://127.0.0.1:8787/api/v1    Pages   / /docs
Admin   http://127.0.0.1:8789/metrics   Nodes   rpc-1 ok, rpc-2 12 behind
Key     8Tzx..pVA5, .slotgate/receipt-key.pem, signs exact
Trust   one operator: a lie of its nodes would be signed

Try
  curl http://127.0.0.1:8787/api/v1/balance/Vote111111111111111111111111111111111111111
  slotgate get Vote111111111111111111111111111111111111111 --url http://127.0.0.1:8787
  slotgate watch --url http://127.0.0.1:8787
Open http://127.0.0.1:8787

`,
    );
  });

  t.test('it shows what is missing, and the embedded cluster', async (t) => {
    const text = plain({ cluster: null, admin: null, receiptKeyPath: null, receiptMode: 'observed' });
    t.match(text, /no node reached yet/);
    t.match(text, /Key +8Tzx\.\.pVA5, inline, signs observed/);
    t.notMatch(text, /Admin/);
    const demo = plain({ embedded: { rpc: 'http://127.0.0.1:8899' } });
    t.match(demo, /Cluster http:\/\/127\.0\.0\.1:8899 .*get ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ --url/s);
    const two = formatBanner(gateway, { ...facts, operators: { count: 3, needed: 2 } });
    t.match(stripVTControlCharacters(two), /Trust +2 of 3 operators must give the same before it is exact/);
  });
});

t.test('completion-script', async (t) => {
  /** Lines that each shell is to complete, and words that it must offer. */
  const CASES: readonly (readonly [words: readonly string[], offered: readonly string[], not: readonly string[]])[] = [
    [['slotgate', ''], ['start', 'doctor', 'completion'], ['rotate']],
    [['slotgate', '--c'], ['--config'], ['--port']], // fish offers no flag before a dash
    [['slotgate', 'keys', ''], ['create', 'usage'], ['start']],
    [['slotgate', 'receipt', 'key', 'r'], ['rotate', 'revoke'], ['show']],
    [['slotgate', 'keys', 'create', '--tier', ''], ['build', 'scale'], ['list']],
    [['slotgate', '--port', '1', 'keys', 'rotate', '--'], ['--grace', '--data-dir'], ['--tier']],
    [['slotgate', '--st'], ['--state'], ['--port']],
    [['slotgate', '--data-dir', 'keys', ''], ['start', 'doctor'], ['rotate']],
    [['slotgate', 'get', '/b'], ['/balance/', '/block/'], ['/tx/']],
    [['slotgate', 'completion', ''], ['bash', 'zsh', 'fish'], ['start']],
  ];

  /** In each shell, a function `offer` that prints what the shell would offer for the words that follow. */
  const DRIVERS = {
    bash: `source /dev/stdin <<< "$SCRIPT"
offer() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slotgate; printf '%s\\n' "\${COMPREPLY[@]}"; }`,
    zsh: `compdef() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }
_files() { :; }; _describe() { print -l -- "\${(@P)2%%:*}"; }
eval "$SCRIPT"; offer() { words=("$@"); CURRENT=$#; _slotgate | { grep -- "^\${words[CURRENT]}" || true; }; }`,
    fish: `echo "$SCRIPT" | source
function offer; complete -C "$(string join " " -- $argv)" | string replace -r "\\t.*" ""; end`,
  } as const;

  /** What is printed before each offer. */
  const MARK = '----';

  for (const [shell, driver] of Object.entries(DRIVERS)) {
    const skip = spawnSync(shell, ['-c', 'true']).status === 0 ? false : `there is no ${shell}`;
    t.test(`${shell} offers commands, flags and their values`, { skip }, async (t) => {
      const { code, out } = await runSlotgate(['completion', shell]);
      t.equal(code, 0);
      const offers = CASES.map(([words]) => `offer ${words.map((word) => `'${word}'`).join(' ')}`);
      const { stdout, stderr } = spawnSync(shell, ['-c', [driver, ...offers].join(`\necho ${MARK}\n`)], {
        encoding: 'utf8',
        env: { ...process.env, SCRIPT: out },
      });
      const outputs = stdout.split(MARK).slice(1);
      for (const [i, [words, offered, not]] of CASES.entries()) {
        const lines = outputs[i]?.split('\n').map((line) => line.trim()) ?? [];
        t.same(
          {
            missing: offered.filter((word) => !lines.includes(word)),
            wrong: not.filter((word) => lines.includes(word)),
          },
          { missing: [], wrong: [] },
          `${words.join(' ')}: ${outputs[i]} ${stderr}`,
        );
      }
    });
  }

  t.test('the scripts are static: each says what the command tree has', async (t) => {
    for (const shell of Object.keys(DRIVERS)) {
      const { out } = await runSlotgate(['completion', shell]);
      for (const word of ['receipt', 'rotate', '--max-age'.slice(shell === 'fish' ? 2 : 0), 'scale', '/balance/'])
        t.match(out, word);
      t.notMatch(out, /undefined|\[object/);
    }
  });
});

t.test('progress', async (t) => {
  const collect = (isTTY: boolean) => {
    const written: string[] = [];
    return { written, isTTY, columns: 60, write: (text: string) => written.push(text) };
  };

  t.test('progress is drawn ten times a second at most, in one line, and removed', async (t) => {
    const clock = new ManualClock();
    const output = collect(true);
    const progress = new Progress({ output, clock, what: 'verifying', total: 1000 });
    for (let step = 0; step < 500; step++) {
      await clock.advance(2);
      progress.advance(1, 'a note that is far too long for what is left of the line');
    }
    t.equal(output.written.length, 10);
    t.match(output.written.at(-1), /\[Kverifying {2}4\d % {2}500\/s {2}2 s left {2}a note/);
    for (const line of output.written) t.ok(line.length <= 60 + 4 && !line.includes('\n'));
    progress.end();
    t.equal(output.written.length, 11);
  });

  t.test('where there is no terminal nothing is drawn', async (t) => {
    const output = collect(false);
    const progress = new Progress({ output, clock: new ManualClock(), what: 'x' });
    progress.advance();
    progress.end();
    t.same(output.written, []);
  });

  t.test('JSON is indented without a change of its values', async (t) => {
    const json = '{"a":[1,2.50,90071992547409931],"b":{},"c":[],"d":"x\\"{,}\\\\","e":{"f":null}}';
    const indented = indentJson(json);
    t.equal(indented.replace(/^ +|\n/gm, '').replaceAll('": ', '":'), json);
    t.match(indented, '\n    90071992547409931\n');
    t.match(indented, '\n  "b": {},\n');
  });

  t.test('transactions, portfolios and blocks are described in words', async (t) => {
    const wordsOf = (id: string, route: string, change: object = {}): string => {
      const { result } = Object(EXAMPLE_ANSWERS[id]?.answer);
      return describeResult(route, JSON.stringify({ ...result, ...change })) ?? '';
    };
    t.match(
      wordsOf('getTx', '/tx/:sig'),
      /^✓ Success · TRANSFER · SYSTEM_PROGRAM · .* UTC\nExJx\w+ sent 0\.000006015 SOL to \w+\n\n(.*\n)+Fee +0\.0000\d+ SOL by /,
    );
    t.equal(wordsOf('getTx', '/tx/:sig', { enhanced: null }), '', 'without a meaning its JSON is shown');
    t.match(
      wordsOf('getAddressPortfolio', '/address/:addr/portfolio'),
      /\nSOL +1,000,000 +\$150\.05 +\$150,051,809\.48\n/,
    );
    const [native] = Object(EXAMPLE_ANSWERS['getAddressPortfolio']?.answer).result.items;
    const items = [native, { ...native, asset: 'token', uiAmountString: '9007199254740993.25' }];
    t.match(
      wordsOf('getAddressPortfolio', '/address/:addr/portfolio', { items }),
      /\nSOL +1,000,000 .*\nwrapped SOL +9,007,199,254,740,993\.25 /,
    );
    t.match(wordsOf('getAddressPortfolio', '/address/:addr/portfolio', { items: [] }), / holds nothing\.$/);
    t.match(wordsOf('getBlock', '/block/:slot'), /^Slot 1,000,063 · \w+ · .*\n\nLeader /);
    const { transactions } = Object(EXAMPLE_ANSWERS['getBlock']?.answer).result;
    const withUnits = { transactions: { ...transactions, computeUnitsConsumed: 2002 } };
    t.match(wordsOf('getBlock', '/block/:slot', withUnits), /\nCompute units +2,002\n/);
    const withNone = { transactions: { ...transactions, computeUnitsConsumed: null } };
    t.notMatch(wordsOf('getBlock', '/block/:slot', withNone), 'Compute units');
    t.equal(describeResult('/slot', '7'), undefined);
  });

  t.test('a terminal gets no escape of somebody else, and the text means the same in JSON', async (t) => {
    const hostile = 'a\u001b[2Jb\u009b1m\u202ec\u0007';
    t.equal(visibleText(hostile), 'a\\u001b[2Jb\\u009b1m\\u202ec\\u0007');
    t.equal(JSON.parse(`"${visibleText('\u202e\u{e0041}')}"`), '\u202e\u{e0041}');
    t.equal(visibleText('one\ntwo'), 'one\ntwo');
  });
});

t.test('watch-screen', async (t) => {
  t.test('the screen counts the age of the slot, however many frames come', async (t) => {
    const clock = new ManualClock();
    let screen = '';
    const written: string[] = [];
    let rows: number | undefined;
    let ends = 0;
    const isRaw: boolean[] = [];
    const onExit = process.listenerCount('exit');
    const health = { cluster: 'a', slot: 5, slotAgeMs: 1 } as HealthReport['health'];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => isRaw.push(raw) });
    const watch = new WatchScreen({
      url: 'http://gateway',
      address: undefined,
      end() {
        ends++;
      },
      input,
      clock,
      readNodes: async () => ({ cluster: 'a', slot: 5, slotAgeMs: 1, health, message: '' }),
      rows: () => rows,
      write(text) {
        screen = stripVTControlCharacters(text);
        written.push(text);
      },
    });
    const send = (slot: number, health: 'ok' | 'degraded'): void => watch.frame('', { slot, health, nonVoteTps: 900 });
    t.match(screen, /^○ connecting {2}http/i);
    send(100, 'ok');
    clock.advance(400);
    send(101, 'ok');
    t.match(screen, /^● Live {2}http/);
    clock.advance(4001);
    t.match(screen, /^○ Slow: no new slot for 4 s {2}http/);
    for (let frames = 0; frames < 19; frames++) {
      clock.advance(5000);
      send(101, 'degraded');
    }
    t.match(screen, /^○ Stalled: no new slot for 1 m 39 s {2}http/);
    clock.advance(1000);
    t.match(screen, /no new slot for 1 m 40 s/, 'by itself');
    t.match(screen, /Slot +101 {2}1 m 40 s ago\r\nTPS +– without votes/);
    for (const _ of [1, 2, 3]) watch.lost();
    t.match(screen, /^○ Offline {2}http/);
    send(400, 'ok');
    clock.advance(1000);
    t.match(screen, /^● Live {2}http/);
    for (const [slot, seq, updatedAt] of [
      [401, 1, 1000],
      [402, 2, 1100],
      [404, 3, 2000],
      [406, 5, 2500], // after one that was missed
      [407, 6, 2900],
    ] as const)
      watch.frame('', { slot, health: 'ok', stream: 'a', seq, updatedAt });
    clock.advance(1500);
    t.match(screen, /Last slots +▂×█ {2}▅\r\nNodes +The gateway has not yet named its health\./, 'by time');
    input.emit('data', Buffer.from('f'));
    t.match(screen, /frozen: f goes on {3}q ends/);
    send(500, 'ok');
    clock.advance(1500);
    t.match(screen, /Slot +407/, 'a frozen screen stays');
    input.emit('data', Buffer.from('?'));
    t.match(screen, /Slot +500 .*Every frame is verified before it is shown/s, 'a key draws it');
    input.emit('data', Buffer.from('?'));
    t.notMatch(screen, /Every frame/);
    input.emit('data', Buffer.from('F'));
    send(501, 'ok');
    clock.advance(1500);
    t.match(screen, /Slot +501 .*q ends {3}f freezes {3}\? explains/s);
    rows = 3;
    process.stdout.emit('resize');
    t.equal(screen.split('\r\n').length, 3, 'a lower terminal has fewer lines');
    input.emit('data', Buffer.from('q'));
    t.equal(ends, 1);
    t.equal(process.listenerCount('exit'), onExit + 1);
    process.listeners('exit').at(-1)?.(1);
    t.equal(written.pop(), '\u001b[?7h\u001b[?1049l', 'what ends the process leaves the screen, too');
    watch.close();
    t.equal(process.listenerCount('exit'), onExit);
    t.same(isRaw, [true, false]);
    const [enter, ...drawn] = written;
    t.equal(enter, '\u001b[?1049h\u001b[?7l', 'a terminal that is narrower than a line cuts it');
    t.equal(drawn.pop(), '\u001b[?7h\u001b[?1049l');
    t.ok(
      drawn.every((text) => text.startsWith('\u001b[H') && text.endsWith('\u001b[J')),
      'no line is left of an earlier screen',
    );
  });
});
