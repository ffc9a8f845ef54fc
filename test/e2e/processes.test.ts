import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { createGateway } from '../../src/index.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { openTamperingProxy } from '../browser/tampering-proxy.ts';
import { type ChildProgram, PATIENT_ARGS, startMain, waitUntilListening } from '../support/child-process.ts';
import { httpClient, waitFor } from '../support/harness.ts';
import { listenOnLoopback } from '../support/loopback-server.ts';
import { scrapeSeries } from '../support/metrics.ts';
import { readTable } from '../support/read-table.ts';
import { CLUSTER, newSigner, sealAnswers } from '../support/receipts/sealed-answers.ts';
import { holdAnswers, startRpcOverrideProxy } from '../support/rpc-override-proxy.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { runSlotgate } from '../support/run-slotgate.ts';
import { collectExposedOutput, findLeaks } from '../support/secret-leaks.ts';

interface StartOptions {
  /** URL of its node. Default: the cluster. */
  readonly node?: string;
  readonly others?: readonly string[];
}

// More of them are killed and starved by `npm run check -- processes`.
t.test('gateway-process', async (t) => {
  const folders = t.testdir({ killed: {}, foreign: {} });
  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);

  function start(
    state: string,
    set: readonly string[] = [],
    { node = cluster.url, others = [] }: StartOptions = {},
  ): ChildProgram {
    const upstream = `${node},${cluster.wsUrl}`;
    const args = [
      ...['--port', '0', '--state', `${folders}/${state}`, '--upstream', upstream, ...PATIENT_ARGS],
      ...set.flatMap((setting) => ['--set', setting]),
      ...others,
    ];
    return startMain(t, args);
  }

  t.test('a killed gateway restarts with the same key, which no other gateway has', async (t) => {
    const first = start('killed');
    const { url: firstUrl } = await waitUntilListening(first);
    const { text } = await httpClient(firstUrl).get('/pubkey');
    first.process.kill('SIGKILL');
    t.equal(await first.exit(), 'SIGKILL');
    const config = `${folders}/killed/slotgate.json`;
    writeFileSync(config, '{}');
    const node = await startRpcOverrideProxy(t, cluster.url);
    const options = { node: node.url, others: ['--config', config] };
    const child = start('killed', ['admin.port=0', 'drainTimeoutMs=60000'], options);
    const { url, admin = '' } = await waitUntilListening(child);
    const { get } = httpClient(url);
    t.equal((await get('/pubkey')).text, text);
    t.match(first.stdout(), 'receipt key created');
    t.notMatch(child.stdout(), 'receipt key created');
    t.notMatch(child.stdout(), 'another process');

    await t.test('settings and keys that are no good change nothing on SIGHUP, and are counted', async (t) => {
      const before = (await get('/pubkey')).text;
      const keyFile = `${folders}/killed/receipt-key.pem`;
      const key = readFileSync(keyFile);
      writeFileSync(config, '{"limits": {"free": {"units": -1}}}');
      writeFileSync(keyFile, 'no key');
      child.process.kill('SIGHUP');
      await child.waitForOutput("the configuration can't be used");
      await child.waitForOutput("the receipt keys can't be used");
      for (const part of ['settings', 'receipt_keys'])
        t.equal(await scrapeSeries(admin, `slotgate_reload_failures_total{part="${part}"}`), 1);
      t.equal((await get('/pubkey')).text, before);
      t.equal((await get('/slot')).status, 200);
      writeFileSync(config, '{}');
      writeFileSync(keyFile, key);
    });

    await t.test('a rotated key is published on SIGHUP, and signs without a restart', async (t) => {
      const before = (await get('/pubkey')).json.publicKey;
      const rotate = ['receipt', 'key', 'rotate', '--after', '0', '--state', `${folders}/killed`];
      const { code, out, err } = await runSlotgate(rotate);
      t.equal(code, 0, err);
      const [, publicKey] = /^active {3}[0-9a-f]{16} {2}(\w+)/m.exec(out) ?? [];
      t.equal((await get('/pubkey')).json.publicKey, before);
      child.process.kill('SIGHUP');
      await child.waitForOutput('the receipt keys were reloaded');
      t.equal((await get('/pubkey')).json.publicKey, publicKey);
    });

    await t.test(
      'on SIGTERM it answers until no connection is left, notifies listeners, and ends with 0',
      async (t) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
        await once(socket, 'message');
        const read = holdAnswers(node, 'getMultipleAccounts');
        const answer = get(`/balance/${WALLETS[0].address}`);
        await read.requested;
        const closed = once(socket, 'close');
        const open = (): Socket => connect(Number(new URL(url).port), '127.0.0.1');
        const [kept, idle] = [open(), open()];
        await Promise.all([once(kept, 'connect'), once(idle, 'connect')]); // before the listener closes
        for (let turn = 0; turn < 2; turn++) {
          kept.write('GET /api/v1/slot HTTP/1.1\r\nHost: gateway.example\r\n\r\n');
          await once(kept, 'data'); // by then the request before it has reached the gateway, too
        }
        child.process.kill('SIGTERM');
        await waitFor(() => child.stdout().includes('"closing"'));
        const [code] = await closed;
        t.equal(code, 1001);
        await t.rejects(once(open(), 'connect'), 'no new connection is accepted');
        kept.write(
          'GET /api/v1/stream HTTP/1.1\r\nHost: gateway.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
            'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
        );
        t.match(String(await once(kept, 'data')), /^HTTP\/1\.1 503 .*"error":"shutting_down"/s, 'nor a new stream');
        read.release();
        const { status, json, headers } = await answer;
        t.equal(status, 200);
        t.type(json.result.lamports, 'number');
        t.equal(headers.get('connection'), 'close');
        idle.write('GET /api/v1/slot HTTP/1.1\r\nHost: gateway.example\r\n\r\n');
        t.match(String(await once(idle, 'data')), /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s, 'it waited for all');
        t.equal(await child.exit(), 0);
        t.equal(child.stderr(), '');
      },
    );
  });

  t.test('over a node of another cluster it ends with 1 and the reason', async (t) => {
    const upstream = `${cluster.url},${cluster.wsUrl}`;
    const other = 'cluster=4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
    const { code, out, err } = await runSlotgate([
      ...['--port', '0', '--state', `${folders}/foreign`, '--upstream', upstream, ...PATIENT_ARGS, '--set', other],
    ]);
    t.equal(code, 1);
    t.match(err, `node-1: it is of another cluster: its genesis hash is ${cluster.genesisHash}, not 4uhc`);
    t.notMatch(out, 'listening');
  });

  t.test('25: no output, answer or file of the process contains a secret, nor do its requests to a node', async (t) => {
    const found = await collectExposedOutput(t, cluster);
    t.same(findLeaks(found), []);
    t.equal(found.exit, 0);
    const refused = found.statuses.map((statuses) => statuses.map((status) => status === 401));
    t.same(refused, [Array(6).fill(false), Array(6).fill(true), Array(6).fill(true)]);
    t.equal(found.statuses[0]?.at(-1), 101, 'the stream accepts the key that a browser offers');
    t.match(found.outputs.log, /"level"/);
    const { nodeRequests, secrets } = found;
    t.ok(nodeRequests.length > 5 && nodeRequests.some((question) => question.includes(String(secrets.upstream[0]))));
  });
});

t.test('command-line', async (t) => {
  const spawned = (args: readonly string[], env?: NodeJS.ProcessEnv): ChildProgram => startMain(t, args, env);

  t.test('--help names every flag and command, --version the version', async (t) => {
    const help = await runSlotgate(['--help']);
    t.equal(help.code, 0);
    const words = ['--config', '--host', '--port', '--state, --data-dir', '--upstream', '--set', 'SLOTGATE_'];
    const commands = ['start', 'doctor', 'get', 'watch', 'use', 'config', 'keys', 'receipt', 'stake', 'completion'];
    for (const word of [...words, ...commands]) t.match(help.out, word);
    t.match(await runSlotgate(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ });
  });

  /** Command lines and variables with errors, and the messages. */
  const WRONG = readTable('e2e/wrong-commands.txt').map(([exitCode, line = '', pattern = '']) => {
    const words = line.split(' ').map((word) => word.replace("''", '').replace('NODE', process.execPath));
    const isVariable = (word: string): boolean => /^[A-Z_]+=/.test(word);
    const variables = words
      .filter(isVariable)
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
    return {
      args: words.filter((word) => !isVariable(word)),
      env: Object.fromEntries(variables),
      exitCode: Number(exitCode),
      message: new RegExp(pattern),
    };
  });

  t.test('an error is one line, and the exit code says what kind it is', async (t) => {
    for (const { args, env, exitCode, message } of WRONG) {
      const { code, out, err } = await runSlotgate(args, env);
      t.equal(code, exitCode, args.join(' '));
      t.match(err, message);
      t.match(err, /^slotgate: [^\n]+\n$/);
      t.equal(out, '');
    }
  });

  t.test('the same in a child process', async (t) => {
    const children = [WRONG.at(0), WRONG.at(-1)].map((wrong) => spawned(wrong?.args ?? [], wrong?.env));
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
        SLOTGATE_LIMITS_FREE_UNITS: '7',
      },
    );
    t.equal(code, 0);
    t.match(JSON.parse(out), { port: 5, limits: { free: { units: 7 } }, upstreams: [{ id: 'node-1' }] });
    t.notMatch(out, /KEY/);
  });

  t.test('config check reports a valid configuration', async (t) => {
    for (const args of [[], ['--config', 'mainnet'], ['--config', 'devnet']])
      t.equal((await runSlotgate(['config', 'check', ...args])).code, 0);
  });

  t.test('a user without a home, or with no folder for settings, has no pinned gateway', async (t) => {
    const elsewhere = { XDG_CONFIG_HOME: '/dev/null', SLOTGATE_URL: '' };
    const get = ['get', '/slot', '--port', '1'];
    t.match(await runSlotgate(get, elsewhere), { code: 1, err: /is a gateway running at http:\/\/127\.0\.0\.1:1\?/ });
    t.match(await runSlotgate(['use'], elsewhere), { code: 1, err: /no gateway is pinned/ });
    t.match(await runSlotgate(['use', '--forget'], elsewhere), { code: 0, err: 'no gateway was pinned\n' });
  });

  t.test('config check refuses what a start would refuse, and creates nothing', async (t) => {
    const folders = t.testdir({ state: {}, fleet: {} });
    const state = `${folders}/state`;
    const check = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
      runSlotgate(['config', 'check', '--state', state, ...args], env);
    t.match(await check({ RECEIPT_KEY: 'zzz' }), { code: 78, err: /RECEIPT_KEY can't be used: not a key/ });
    t.match(await check({ RECEIPT_KEY: 'ephemeral', RECEIPT_KEY_FILE: 'x' }), { code: 78, err: /both set/ });
    t.match(await check({ RECEIPT_KEY_FILE: `${state}/none` }), {
      code: 78,
      err: /RECEIPT_KEY_FILE: there is no file/,
    });
    t.match(await check({ NODE_ENV: 'production' }), { code: 78, err: /no receipt key: create one/ });
    t.match(await check({}, '--host', 'not a host'), { code: 78, err: /host: expected an IP address or a host name/ });
    t.equal((await check({ RECEIPT_KEY: 'ephemeral' })).code, 0);
    t.equal((await check()).code, 0);
    t.same(readdirSync(state), []);

    const fleet = ['--state', `${folders}/fleet`, '--redis', 'redis://127.0.0.1', '--upstream', 'http://127.0.0.1:1'];
    await runSlotgate(['receipt', 'key', 'create', ...fleet]);
    await runSlotgate(['receipt', 'key', 'rotate', '--after', '0', ...fleet]);
    t.equal((await runSlotgate(['config', 'check', ...fleet])).code, 0);
    rmSync(`${folders}/fleet/receipt-key.pem`);
    const lost = { code: 78, err: /the secret of a fleet follows from .*fleet\/receipt-key\.pem is missing/ };
    t.match(await runSlotgate(['config', 'check', ...fleet]), lost);
    t.match(await runSlotgate(['keys', 'list', ...fleet]), lost);
    t.equal((await check({ SLOTGATE_FLEET_SECRET: 's'.repeat(32) }, ...fleet)).code, 0);

    writeFileSync(`${state}/keys.json`, '{');
    t.match(await check(), { code: 1, err: /keys\.json: the file is not JSON/ });
    t.match(await runSlotgate(['config', 'check', '--data-dir', state]), { code: 1, err: /keys\.json: the file is/ });
    t.match(await check({ RECEIPT_KEY: 'ephemeral' }, '--workers', '2'), { code: 78, err: /is for one process/ });

    const upstreams = [
      { url: 'http://127.0.0.1:1', geyser: { url: 'http://127.0.0.1:1', tokenFile: `${state}/none` } },
    ];
    const settings = { port: 0, admin: { port: null }, dataDir: state, upstreams };
    const silent = { info() {}, warn() {}, error() {} };
    t.match(await check({ SLOTGATE_UPSTREAMS: JSON.stringify(upstreams) }), {
      code: 78,
      err: /geyser\.tokenFile: can't/,
    });
    await t.rejects(createGateway(settings, { logger: silent }), {
      exitCode: 78,
      message: /geyser\.tokenFile: can't read/,
    });
    await t.rejects(createGateway({ ...settings, upstreams: [{ url: 'http://127.0.0.1:1' }] }, { logger: silent }), {
      message: /keys\.json/,
    });
    t.same(readdirSync(state), ['keys.json'], 'a start that is refused creates no receipt key');
  });

  t.test('the variables of a Kubernetes service called slotgate are logged, and stop nothing', async (t) => {
    const env = {
      SLOTGATE_PORT: 'tcp://10.0.0.1:8787',
      SLOTGATE_SERVICE_HOST: '10.0.0.1',
      SLOTGATE_PORT_8787_TCP_PROTO: 'tcp',
    };
    const { code, err } = await runSlotgate(['config', 'check', '--data-dir', t.testdir()], env);
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
    const { result } = (await (await fetch(`${url}/api/v1/health`)).json()) as {
      result: { cluster: string; embedded: { rpc: string } };
    };
    const believed = await runSlotgate(['get', PATH, '--url', url, '--nonce']);
    t.same([believed.code, believed.out], [0, BALANCE], 'the signed bytes');
    t.match(
      believed.err,
      /^slot \d+ {2}confirmed {2}observed\/\d+ {2}key \w+\.\.\w+ \(not pinned: no --public-key, no --cluster\)\n$/,
    );
    const pins = ['--public-key', publicKey, '--cluster', result.cluster];
    const pinned = await runSlotgate(['get', `${url}/api/v1${PATH}?commitment=confirmed`, ...pins]);
    t.same([pinned.code, pinned.out], [0, BALANCE], 'a whole URL');
    t.match(pinned.err, /\(pinned\)\n$/);
    const here = { SLOTGATE_URL: url, SLOTGATE_PUBLIC_KEY: publicKey, XDG_CONFIG_HOME: `${t.testdirName}/config` };
    t.match(await runSlotgate(['get', PATH], here), { code: 0, out: BALANCE, err: /\(not pinned: no --cluster\)\n$/ });
    t.match(await runSlotgate(['get', WHALE], here), { code: 0, out: /^\{"owner":"9grdmo.*"9007199\.254740993"/ });
    await waitFor(async () => {
      const slot = Number(JSON.parse((await runSlotgate(['get', '/slot'], here)).out)) - 3;
      const { code, out } = await runSlotgate(['get', `#${slot}`], here);
      return code === 0 && out.startsWith(`{"slot":${slot},`);
    }, 'a block'); // a cluster that has just started has none there, and some slots are skipped
    t.match(await runSlotgate(['get', 'SOL'], here), { code: 0, out: /So11111111111111111111111111111111111111112/ });
    t.match(await runSlotgate(['get', 'USDC'], here), {
      code: 1,
      out: '',
      err: /USDC is EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, which does not exist on this cluster\n$/,
    });
    t.match(await runSlotgate(['get', 'helth'], here), { code: 64, err: /the nearest known name is \/health\n$/ });
    t.match(await runSlotgate(['get', 'no such thing'], here), { code: 1, err: /unclassifiable: <what> must be / });
    await usesPinnedGateway(t, url, { publicKey, cluster: result.cluster });
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
      err: /is a gateway running at http:\/\/127\.0\.0\.1:1/,
    });
    t.same(await runSlotgate(['get', '/slot', '--url', result.embedded.rpc]), {
      code: 1,
      out: '',
      err: `slotgate: status 405 without a known error code: is a gateway running at ${result.embedded.rpc}?\n`,
    });

    const proxy = await openTamperingProxy(t, url);
    proxy.tamper = (packet) => packet.replace('254740993"', '254740994"');
    const tampered = await runSlotgate(['get', PATH, '--url', proxy.url]);
    t.same([tampered.code, tampered.out], [1, '']);
    t.match(tampered.err, /^slotgate: the answer is not proven: digest\. The result is not the signed one/);
    const unreadable = { code: 1, out: '', err: /^slotgate: unreadable: what answers there is no gateway\n$/ };
    for (const [path, body] of [
      ['/health', '<!doctype html><title>Sign in</title>'],
      ['/health', '{"error":"unhealthy","message":"no node"}'],
      ['/health', '{"result":{"status":"ok","cl'],
      ['/network', '{"result":{"slot":5}}'],
      ['/pubkey', '{"publicKey":"'],
    ] as const) {
      const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
      proxy.tamper = () => answer;
      t.match(await runSlotgate(['get', path, '--url', proxy.url, '--quiet']), unreadable, body);
    }
    proxy.tamper = () => 'HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n';
    t.match(await runSlotgate(['get', '/health', '--url', proxy.url]), unreadable, 'not modified since nothing');
    await endsOneSearch(t);
    const other = await runSlotgate(['get', PATH, '--url', url, '--public-key', WHALE]);
    t.match(other, { code: 1, out: '', err: /not proven: unknown-key/ });
  }

  /** What a gateway signs that lies is searched for once. */
  async function endsOneSearch(t: Test): Promise<void> {
    const signer = newSigner();
    let found = '{"type":"ticker","id":"a","path":"abc"}';
    let searches = 0;
    const liar = createServer(({ url = '' }, response) => {
      const about = {
        request: `GET ${url}`,
        slot: 5,
        commitment: 'confirmed',
        claim: 'observed',
        nonce: null,
      } as const;
      const isSearch = url.startsWith('/api/v1/search');
      if (isSearch) searches++;
      const unsigned = url.endsWith('/pubkey') ? { publicKey: signer.publicKey } : { result: { cluster: CLUSTER } };
      response.end(
        isSearch ? sealAnswers(signer, [{ ...about, result: found }], Date.now())[0] : JSON.stringify(unsigned),
      );
    });
    const port = await listenOnLoopback(liar);
    t.teardown(() => liar.close());
    const pins = ['--public-key', signer.publicKey, '--cluster', CLUSTER];
    for (found of [found, '{"type":"ticker","id":"a"}', 'null']) {
      const { code, err } = await runSlotgate(['get', 'abc', '--url', `http://127.0.0.1:${port}`, ...pins]);
      t.match(
        { code, err },
        { code: 1, err: /^slotgate: the gateway has found it on a route that this version/ },
        found,
      );
    }
    t.equal(searches, 3);
  }

  async function usesPinnedGateway(t: Test, url: string, pins: { publicKey: string; cluster: string }): Promise<void> {
    const home = { XDG_CONFIG_HOME: `${t.testdirName}/config` };
    t.match(await runSlotgate(['use'], home), { code: 1, err: /no gateway is pinned: slotgate use URL pins one/ });
    const proxy = await openTamperingProxy(t, url);
    t.equal((await runSlotgate(['use', proxy.url], home)).code, 0);
    const forged = pins.publicKey.slice(0, -1) + (pins.publicKey.endsWith('1') ? '2' : '1');
    proxy.tamper = (packet) => packet.replace(pins.publicKey, forged);
    t.match(
      await runSlotgate(['use', proxy.url], home),
      { code: 0, out: `Key      ${pins.publicKey}\n` },
      'it pins the key that has signed, whatever /pubkey names',
    );
    t.match(await runSlotgate(['use', `${url}/api/v1/`], home), {
      code: 0,
      out: `Key      ${pins.publicKey}\nCluster  ${pins.cluster}`,
    });
    for (const args of [[PATH], [PATH, '--url', `${url}/api/v1/`], [`${url}/api/v1${PATH}`]])
      t.match(
        await runSlotgate(['get', ...args], home),
        { code: 0, out: BALANCE, err: /\(pinned\)\n$/ },
        args.join(' '),
      );
    const file = `${home.XDG_CONFIG_HOME}/slotgate/gateway.json`;
    t.same(JSON.parse(readFileSync(file, 'utf8')), { url, ...pins });
    writeFileSync(file, JSON.stringify({ url, ...pins, publicKey: WHALE }));
    for (const args of [
      ['use', url],
      ['get', PATH],
    ])
      t.match(
        await runSlotgate(args, home),
        { code: 1, out: '', err: /not proven: unknown-key.* slotgate use --forget forgets/ },
        args.join(' '),
      );
    writeFileSync(file, '{}');
    t.match(await runSlotgate(['use'], home), { code: 78, err: /slotgate use --forget removes it/ });
    t.equal((await runSlotgate(['use', '--forget'], home)).code, 0);
    t.notOk(existsSync(file));
  }

  async function watches(t: Test, url: string): Promise<void> {
    const other = createServer();
    new WebSocketServer({ server: other }).on('connection', (socket) => socket.close());
    t.teardown(() => other.close());
    const elsewhere = `http://127.0.0.1:${await listenOnLoopback(other)}`;
    const lost = spawned(['watch', '--url', elsewhere]);
    const watch = spawned(['watch', '--url', url, '--balance', WHALE]);
    await Promise.all([watch.waitForOutput(`{"result":${BALANCE}`), watch.waitForOutput('"SUB /api/v1/stream')]);
    watch.process.kill('SIGTERM');
    t.equal(await watch.exit(), 0, watch.stderr());
    for (const line of watch.stdout().trimEnd().split('\n')) t.match(line, /^\{"result":\{.*\}$/);
    t.notMatch(watch.stdout() + watch.stderr(), ESCAPE);

    const proxy = await openTamperingProxy(t, url);
    let refusals = 0;
    let upgrades = 0;
    proxy.tamper = (packet) => {
      if (packet.startsWith('HTTP/1.1 101') && upgrades++ === 0) return refusedUpgrade(503, 'overloaded');
      return packet.includes('"publicKey"') && refusals++ < 4 ? packet.replace('200 OK', '503 OK') : packet;
    };
    const patient = spawned(['watch', '--url', proxy.url]);
    await patient.waitForOutput('"SUB /api/v1/stream');
    t.same([upgrades, refusals], [2, 5], 'it goes on after a refusal for now');
    patient.process.kill('SIGTERM');
    t.equal(await patient.exit(), 0, patient.stderr());

    proxy.tamper = (packet) => packet.replace('"health":"ok"', '"health":"no"');
    const deceived = spawned(['watch', '--url', proxy.url]);
    t.equal(await deceived.exit(), 1);
    t.same([deceived.stdout(), deceived.stderr().split(':')[1]], ['', ' the answer is not proven']);

    // An answer may come in two packets, and this one ends with its connection.
    proxy.tamper = (packet) => (packet.startsWith('HTTP/1.1') ? refusedUpgrade(401, 'invalid_api_key') : '');
    const refused = spawned(['watch', '--url', proxy.url]);
    t.equal(await refused.exit(), 1);
    t.equal(refused.stderr(), 'slotgate: invalid_api_key: why\n');

    t.equal(await lost.exit(), 1, 'where connections open, and bring nothing');
    t.match(lost.stderr(), `can't be reached: is a gateway running at ${elsewhere}?`);

    await t.test('it ends also where the gateway does not close', { timeout: 20_000 }, async (t) => {
      const server = createServer();
      const hanging = new WebSocketServer({ server });
      t.teardown(() => server.close());
      const port = await listenOnLoopback(server);
      const watch = spawned(['watch', '--url', `http://127.0.0.1:${port}`]);
      const [socket]: WebSocket[] = await once(hanging, 'connection');
      socket?.ping();
      await once(socket ?? hanging, 'pong');
      socket?.pause();
      watch.process.kill('SIGTERM');
      t.equal(await watch.exit(), 0);
    });
  }

  const refusedUpgrade = (status: number, error: string): string =>
    `HTTP/1.1 ${status} No\r\nconnection: close\r\n\r\n{"error":"${error}","message":"why"}`;

  const [linkLocal = ''] = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.flatMap(({ address }) => (address.startsWith('fe80:') ? `${address}%${name}` : [])),
  );
  const linkLocalSkipReason = linkLocal === '' && 'no interface has a link-local address';
  t.test('it listens at an address that names its interface', { skip: linkLocalSkipReason }, async (t) => {
    for (const workers of ['0', '1']) {
      const host = ['--host', linkLocal, '--set', `admin.host=${linkLocal}`];
      const child = spawned([...EMBEDDED_ARGS, ...host, '--workers', workers, '--state', t.testdir()]);
      const { url, admin } = await waitUntilListening(child);
      for (const each of [url, admin]) t.ok(each?.startsWith(`http://[${linkLocal}]:`));
      child.process.kill('SIGTERM');
      t.equal(await child.exit(), 0);
    }
  });

  t.test('without a command the gateway starts, reports its URL, and ends on SIGTERM', async (t) => {
    const states = t.testdir({ first: {}, second: {} });
    const settings = ['log.level=info', 'drainTimeoutMs=200', 'limits.free.units=1000000', 'limits.loopDelayMs=60000'];
    const set = settings.flatMap((setting) => ['--set', setting]);
    const child = spawned([...EMBEDDED_ARGS, '--state', `${states}/first`, ...set], {
      RECEIPT_KEY: 'ephemeral',
      SLOTGATE_PORT: 'tcp://10.0.0.1:8787',
    });
    const { url, cluster, embedded } = await waitUntilListening(child);
    t.match(child.stdout(), /"level":"warn".*enableServiceLinks: false/);
    t.match(cluster, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    t.equal(await rpcRequest(embedded?.rpc ?? '', 'getGenesisHash'), cluster);
    t.equal((await fetch(new URL('/api/v1/pubkey', url))).status, 200);

    const { port } = new URL(url);
    const late = spawned([...EMBEDDED_ARGS, '--port', port, '--state', `${states}/second`], {
      RECEIPT_KEY: 'ephemeral',
    });
    t.equal(await late.exit(), 1, 'a port that is in use');
    t.match(late.stderr(), new RegExp(`^slotgate: [^\\n]*${port}: the port is in use[^\\n]*\\n$`));
    const messages = [...late.stdout().matchAll(/"msg":"([^"]*)"/g)].map(([, message = '']) => message);
    const others = messages.filter((message) => !message.startsWith('the HTTP engine is '));
    t.same(others, ['starting'], 'before a cluster is started');

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
      t.match(out, /^ok {4}node-1 accountSubscribe +after \d+ ms$/m);
      t.notMatch(out, ESCAPE);
      t.notOk(existsSync(`${states}/no`), 'it changes nothing');
    });

    t.equal(child.stderr(), '');
  });
});
