import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { openTamperingProxy } from '../browser/tampering-proxy.ts';
import { type ChildProgram, PATIENT_ARGS, runModule, waitUntilListening } from '../support/child-process.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

const spawned = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProgram => {
  const child = runModule(new URL('../../src/main.js', import.meta.url), args, env);
  t.teardown(() => child.process.kill('SIGKILL'));
  return child;
};

t.test('--help names every flag and command, --version the version', async (t) => {
  const help = await runSlotgate(['--help']);
  t.equal(help.code, 0);
  const words = ['--config', '--host', '--port', '--state', '--upstream', '--set', 'SLOTGATE_'];
  const commands = ['start', 'doctor', 'get', 'watch', 'config', 'keys', 'receipt', 'stake', 'completion'];
  for (const word of [...words, ...commands]) t.match(help.out, word);
  const version = spawned(['--version']);
  t.equal(await version.exit(), 0);
  t.match(version.stdout(), /^\d+\.\d+\.\d+\n$/);
});

/** Command lines and variables with errors, and the messages. */
const WRONG: readonly [readonly string[], Readonly<Record<string, string>>, number, RegExp][] = [
  [['--prot', '1'], {}, 64, /unknown flag --prot, the nearest known name is --port\n/],
  [['--upstrem=https://rpc.example/KEY'], {}, 64, /unknown flag --upstrem, the nearest known name is --upstream\n/],
  [['https://rpc.example/KEY'], {}, 64, /unknown command https:\/\/rpc\.example\/\*\*\* \(of start, /],
  [['--port'], {}, 64, /argument missing/],
  [['--set', 'port'], {}, 64, /name=value/],
  [['blance'], {}, 64, /unknown command blance \(of start, /],
  [['strat'], {}, 64, /unknown command strat, the nearest known name is start/],
  [['config', 'pint'], {}, 64, /unknown command config pint, the nearest known name is config print \(of /],
  [['config'], {}, 64, /config needs one of print, check, schema/],
  [
    ['receipt', 'key', 'rotat'],
    {},
    64,
    /unknown command receipt key rotat, the nearest known name is receipt key rotate/,
  ],
  [['keys', 'create', '--tier', 'bild', '--label', 'x'], {}, 64, /unknown value of --tier bild, .* is build \(of /],
  [['keys', 'list', '--sett', 'x=1'], {}, 64, /unknown flag --sett, the nearest known name is --set\n/],
  [['watch', '--balanc', 'x'], {}, 64, /unknown flag --balanc, the nearest known name is --balance\n/],
  [['completion', 'bsh'], {}, 64, /unknown shell bsh, the nearest known name is bash/],
  [['get', '/balence/ADDR'], {}, 64, /unknown path \/balence\/ADDR, the nearest known name is \/balance\/ADDR\n/],
  [['get', 'api/v1/adress/ADDR/portfolio'], {}, 64, /the nearest known name is \/address\/ADDR\/portfolio\n/],
  [['get', '/rpc'], {}, 64, /\/rpc takes POST/],
  [['get', '/slot', '--url', 'gateway'], {}, 64, /--url must be an http:\/\/ or https:\/\/ URL/],
  [['--port', 'nope'], {}, 78, /port: expected a whole number from 0 to 65535, got "nope" \(--port\)/],
  [['start', '--set', 'prot=1'], {}, 78, /unknown setting prot, the nearest known name is port/],
  [['start', '--set', 'upstream.subscriptions=4'], {}, 78, /upstream\.subscriptions: expected .*, got 4/],
  [['config', 'check', '--config', 'maninet'], {}, 78, /unknown configuration maninet, .* is mainnet/],
  [['config', 'check'], { SLOTGATE_HOTS: '::1' }, 78, /unknown variable SLOTGATE_HOTS, .* is SLOTGATE_HOST/],
];

t.test('an error is one line, and the exit code says what kind it is', async (t) => {
  for (const [args, env, exitCode, line] of WRONG) {
    const { code, out, err } = await runSlotgate(args, env);
    t.equal(code, exitCode, args.join(' '));
    t.match(err, line);
    t.match(err, /^slotgate: [^\n]+\n$/);
    t.equal(out, '');
  }
});

t.test('the same in a child process', async (t) => {
  const children = [WRONG.at(0), WRONG.at(-1)].map(([args, env] = [[], {}, 0, /^/]) => spawned(args, env));
  const codes = await Promise.all(children.map((child) => child.exit()));
  t.same(codes, [64, 78]);
  for (const child of children) {
    t.match(child.stderr(), /^slotgate: [^\n]+\n$/);
    t.equal(child.stdout(), '');
  }
});

t.test('config print prints the settings in force, without the keys in URLs', async (t) => {
  const { code, out } = await runSlotgate(
    ['config', 'print', '--upstream', 'https://rpc.example/v2/KEY', '--port', '5'],
    {
      SLOTGATE_PRICES_JUPITER_URL: 'https://prices.example/price/v3?api-key=KEY',
      SLOTGATE_PORT: '4',
      SLOTGATE_LIMITS_FREE_REQUESTS: '7',
    },
  );
  t.equal(code, 0);
  t.match(JSON.parse(out), { port: 5, limits: { free: { requests: 7 } }, upstreams: [{ id: 'node-1' }] });
  t.notMatch(out, /KEY/);
});

t.test('config check reports a valid configuration', async (t) => {
  for (const args of [[], ['--config', 'mainnet'], ['--config', 'devnet']])
    t.equal((await runSlotgate(['config', 'check', ...args])).code, 0);
});

t.test('config check refuses what a start would refuse, and creates nothing', async (t) => {
  const state = t.testdir();
  const check = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
    runSlotgate(['config', 'check', '--state', state, ...args], env);
  t.match(await check({ RECEIPT_KEY: 'zzz' }), { code: 78, err: /RECEIPT_KEY can't be used: not a key/ });
  t.match(await check({ RECEIPT_KEY: 'ephemeral', RECEIPT_KEY_FILE: 'x' }), { code: 78, err: /both set/ });
  t.match(await check({ RECEIPT_KEY_FILE: `${state}/none` }), { code: 78, err: /RECEIPT_KEY_FILE: there is no file/ });
  t.match(await check({ NODE_ENV: 'production' }), { code: 78, err: /no receipt key: create one/ });
  t.match(await check({}, '--host', 'not a host'), { code: 78, err: /host: expected an IP address or a host name/ });
  t.equal((await check({ RECEIPT_KEY: 'ephemeral' })).code, 0);
  t.equal((await check()).code, 0);
  t.same(readdirSync(state), []);
  writeFileSync(`${state}/keys.json`, '{');
  t.match(await check(), { code: 1, err: /keys\.json: the file is not JSON/ });
});

t.test('the variables of a Kubernetes service called slotgate are told, and stop nothing', async (t) => {
  const env = {
    SLOTGATE_PORT: 'tcp://10.0.0.1:8787',
    SLOTGATE_SERVICE_HOST: '10.0.0.1',
    SLOTGATE_PORT_8787_TCP_PROTO: 'tcp',
  };
  const { code, err } = await runSlotgate(['config', 'check', '--state', t.testdir()], env);
  t.equal(code, 0);
  t.match(err, /^slotgate: ignored SLOTGATE_PORT and others .* enableServiceLinks: false [^\n]*\n$/);
});

/** Arguments of a gateway over the embedded cluster, on free ports. */
const EMBEDDED_ARGS = ['--port', '0', '--set', 'embedded.port=0', ...PATIENT_ARGS];

/** What only a terminal understands. */
const ESCAPE = '\u001b';

/** An account whose balance never changes. */
const WHALE = '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o';
const PATH = `/balance/${WHALE}`;
const BALANCE = '{"lamports":9007199254740993,"sol":"9007199.254740993"}';

async function getsProvenAnswers(t: Test, url: string): Promise<void> {
  const { publicKey } = (await (await fetch(`${url}/api/v1/pubkey`)).json()) as { publicKey: string };
  const { result } = (await (await fetch(`${url}/api/v1/health`)).json()) as { result: { cluster: string } };
  const believed = await runSlotgate(['get', PATH, '--url', url, '--nonce']);
  t.same([believed.code, believed.out], [0, BALANCE], 'the signed bytes');
  t.match(
    believed.err,
    /^slot \d+ {2}confirmed {2}observed\/\d+ {2}key \w+\.\.\w+ \(not pinned: no --public-key, no --cluster\)\n$/,
  );
  const pins = ['--public-key', publicKey, '--cluster', result.cluster];
  const pinned = await runSlotgate(['get', `${url}/api/v1${PATH}?commitment=confirmed`, ...pins]);
  t.same([pinned.code, pinned.out], [0, BALANCE], 'a whole URL');
  t.notMatch(pinned.err, /not pinned/);
  t.match(await runSlotgate(['get', 'health', '--url', url, '--quiet']), {
    code: 0,
    out: /^\{"status":"ok"/,
    err: /^$/,
  });
  t.match(await runSlotgate(['get', '/network', '--url', url]), {
    code: 0,
    out: /^\{"slot":\d+.*\}$/,
    err: /^slot \d+ {2}unsigned/,
  });
  t.match(await runSlotgate(['get', '/balance/x', '--url', url]), {
    code: 1,
    out: '',
    err: /invalid_address: .*#error-invalid_address\n$/,
  });
  t.match(await runSlotgate(['get', '/slot', '--url', 'http://127.0.0.1:1']), {
    code: 1,
    out: '',
    err: /is one running at http:\/\/127\.0\.0\.1:1/,
  });

  const proxy = await openTamperingProxy(t, url);
  proxy.tamper = (packet) => packet.replace('254740993"', '254740994"');
  const tampered = await runSlotgate(['get', PATH, '--url', proxy.url]);
  t.same([tampered.code, tampered.out], [1, '']);
  t.match(tampered.err, /^slotgate: the answer is not proven: digest\. The result is not the one that was signed/);
  const other = await runSlotgate(['get', PATH, '--url', url, '--public-key', WHALE]);
  t.match(other, { code: 1, out: '', err: /not proven: unknown-key/ });
}

async function watches(t: Test, url: string): Promise<void> {
  const watch = spawned(['watch', '--url', url, '--balance', WHALE]);
  await Promise.all([watch.waitForOutput(`{"result":${BALANCE}`), watch.waitForOutput('"SUB /api/v1/stream')]);
  watch.process.kill('SIGTERM');
  t.equal(await watch.exit(), 0, watch.stderr());
  for (const line of watch.stdout().trimEnd().split('\n')) t.match(line, /^\{"result":\{.*\}$/);
  t.notMatch(watch.stdout() + watch.stderr(), ESCAPE);

  const proxy = await openTamperingProxy(t, url);
  proxy.tamper = (packet) => packet.replace('"health":"ok"', '"health":"no"');
  const deceived = spawned(['watch', '--url', proxy.url]);
  t.equal(await deceived.exit(), 1);
  t.same([deceived.stdout(), deceived.stderr().split(':')[1]], ['', ' the answer is not proven']);
}

t.test('without a command the gateway starts, reports its URL, and ends on SIGTERM', async (t) => {
  const states = t.testdir({ first: {}, second: {} });
  const child = spawned([...EMBEDDED_ARGS, '--state', `${states}/first`, '--set', 'log.level=info'], {
    RECEIPT_KEY: 'ephemeral',
    SLOTGATE_PORT: 'tcp://10.0.0.1:8787',
  });
  const { url, cluster, embedded } = await waitUntilListening(child);
  t.match(child.stdout(), /"level":"warn".*enableServiceLinks: false/);
  t.match(cluster, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
  t.equal(await rpcRequest(embedded?.rpc ?? '', 'getGenesisHash'), cluster);
  t.equal((await fetch(new URL('/api/v1/pubkey', url))).status, 200);

  const { port } = new URL(url);
  const late = spawned([...EMBEDDED_ARGS, '--port', port, '--state', `${states}/second`], { RECEIPT_KEY: 'ephemeral' });
  t.equal(await late.exit(), 1, 'a port that is in use');
  t.match(late.stderr(), new RegExp(`^slotgate: [^\\n]*${port}: the port is in use[^\\n]*\\n$`));
  const messages = [...late.stdout().matchAll(/"msg":"([^"]*)"/g)].map(([, message = '']) => message);
  t.same(
    messages.filter((message) => !message.startsWith('the HTTP engine is ')),
    ['starting'],
    'before a cluster is started',
  );

  const commandLine = `/proc/${child.process.pid}/cmdline`;
  if (existsSync(commandLine))
    t.equal(readFileSync(commandLine, 'utf8').replaceAll('\0', ''), `slotgate 127.0.0.1:${port}`);

  await t.test('get prints what is proven, and nothing else', (t) => getsProvenAnswers(t, url));
  await t.test('watch follows it frame by frame, and stops at the first that is not proven', (t) => watches(t, url));
  await t.test('doctor finds nothing wrong with a node in order', async (t) => {
    const { code, out, err } = await runSlotgate([
      'doctor',
      '--upstream',
      embedded?.rpc ?? '',
      '--state',
      `${states}/no`,
    ]);
    t.equal(code, 0, out + err);
    t.match(out, /^ok {4}node-1 methods +21 of 21 methods$/m);
    t.match(out, /^ok {4}node-1 account news +after \d+ ms$/m);
    t.notMatch(out, ESCAPE);
    t.notOk(existsSync(`${states}/no`), 'it changes nothing');
  });

  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
  t.equal(child.stderr(), '');
});

t.test('the gateway ends with the reason if the thread of its embedded cluster has ended', async (t) => {
  const folder = t.testdir({
    'end-thread.cjs': `
      const { isMainThread } = require('node:worker_threads');
      if (!isMainThread) setTimeout(() => { throw new Error('out of luck'); }, 5000);
    `,
  });
  const child = spawned([...EMBEDDED_ARGS, '--state', folder, '--set', 'log.level=error'], {
    RECEIPT_KEY: 'ephemeral',
    NODE_OPTIONS: `--require=${folder}/end-thread.cjs`,
  });
  t.equal(await child.exit(), 1);
  t.match(child.stdout() + child.stderr(), /out of luck/);
});
