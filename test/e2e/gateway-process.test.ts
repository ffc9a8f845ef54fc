import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { type ChildProgram, PATIENT_ARGS, runModule, waitUntilListening } from '../support/child-process.ts';
import { httpClient, waitFor } from '../support/harness.ts';
import { longestExplainBody } from '../support/longest-explain-body.ts';
import { scrapeSeries } from '../support/metrics.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

const folders = t.testdir({
  killed: {},
  rotated: {},
  drained: {},
  busy: {},
  waiting: {},
  foreign: {},
  full: {},
  unusable: {},
});
const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
t.teardown(cluster.close);

function start(
  state: string,
  set: readonly string[] = [],
  others: readonly string[] = [],
  maxOpenFiles?: number,
): ChildProgram {
  const upstream = `${cluster.url},${cluster.wsUrl}`;
  const args = [
    ...['--port', '0', '--state', `${folders}/${state}`, '--upstream', upstream, ...PATIENT_ARGS],
    ...set.flatMap((setting) => ['--set', setting]),
    ...others,
  ];
  const child = runModule(new URL('../../src/main.js', import.meta.url), args, {}, maxOpenFiles);
  t.teardown(() => child.process.kill('SIGKILL'));
  return child;
}

async function serve(state: string): Promise<{ readonly child: ChildProgram; readonly url: string }> {
  const child = start(state);
  return { child, url: (await waitUntilListening(child)).url };
}

t.test('a killed gateway restarts with the same key, which no other gateway has', async (t) => {
  const first = await serve('killed');
  const { text } = await httpClient(first.url).get('/pubkey');
  first.child.process.kill('SIGKILL');
  t.equal(await first.child.exit(), 'SIGKILL');
  const second = await serve('killed');
  t.equal((await httpClient(second.url).get('/pubkey')).text, text);
  t.match(first.child.stdout(), 'receipt key created');
  t.notMatch(second.child.stdout(), 'receipt key created');
  t.notMatch(second.child.stdout(), 'another process');
  second.child.process.kill('SIGTERM');
  t.equal(await second.child.exit(), 0);
});

t.test('a rotated key is published on SIGHUP, and signs without a restart', async (t) => {
  const { child, url } = await serve('rotated');
  const { get } = httpClient(url);
  const before = (await get('/pubkey')).json.publicKey;
  const rotate = runModule(new URL('../../src/main.js', import.meta.url), [
    ...['receipt', 'key', 'rotate', '--after', '0', '--state', `${folders}/rotated`],
  ]);
  t.equal(await rotate.exit(), 0, rotate.stderr());
  const [, publicKey] = /^active {3}[0-9a-f]{16} {2}(\w+)/m.exec(rotate.stdout()) ?? [];
  t.equal((await get('/pubkey')).json.publicKey, before);
  child.process.kill('SIGHUP');
  await waitFor(() => child.stdout().includes('the receipt keys were reloaded'));
  t.equal((await get('/pubkey')).json.publicKey, publicKey);
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
});

t.test('settings and keys that are no good change nothing on SIGHUP, and are counted', async (t) => {
  const folder = `${folders}/unusable`;
  const config = `${folder}/slotgate.json`;
  writeFileSync(config, '{}');
  const child = start('unusable', ['admin.port=0'], ['--config', config]);
  const { url, admin = '' } = await waitUntilListening(child);
  const { get } = httpClient(url);
  const before = (await get('/pubkey')).text;
  writeFileSync(config, '{"limits": {"free": {"requests": -1}}}');
  writeFileSync(`${folder}/receipt-key.pem`, 'no key');
  child.process.kill('SIGHUP');
  await child.waitForOutput("the configuration can't be used");
  await child.waitForOutput("the receipt keys can't be used");
  for (const part of ['settings', 'receipt_keys'])
    t.equal(await scrapeSeries(admin, `slotgate_reload_failures_total{part="${part}"}`), 1);
  t.equal((await get('/pubkey')).text, before);
  t.equal((await get('/slot')).status, 200);
});

t.test('on SIGTERM it answers until no connection is left, notifies listeners, and ends with 0', async (t) => {
  const child = start('drained', ['drainMs=60000']);
  const { url } = await waitUntilListening(child);
  const { get } = httpClient(url);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
  await once(socket, 'message');
  await cluster.control.delayResponses(700);
  const calls = async () => (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;
  const before = await calls();
  const answer = get(`/balance/${WALLETS[0].address}`);
  const closed = once(socket, 'close');
  const kept = connect(Number(new URL(url).port), '127.0.0.1');
  const idle = connect(Number(new URL(url).port), '127.0.0.1');
  await Promise.all([once(kept, 'connect'), once(idle, 'connect')]); // before the listener closes
  await new Promise((resolve) => setTimeout(resolve, 200)); // the request has reached the cluster
  t.equal(await calls(), before, 'which has not looked at it yet');
  child.process.kill('SIGTERM');
  await waitFor(() => child.stdout().includes('"closing"'));
  const [code] = await closed;
  t.equal(code, 1001);
  await t.rejects(get('/slot'), 'no new connection is taken');
  kept.write(
    'GET /api/v1/stream HTTP/1.1\r\nHost: gateway.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  t.match(String(await once(kept, 'data')), /^HTTP\/1\.1 503 .*"error":"shutting_down"/s, 'nor a new stream');
  const { status, json, headers } = await answer;
  t.equal(status, 200);
  t.type(json.result.lamports, 'number');
  t.equal(headers.get('connection'), 'close');
  idle.write('GET /api/v1/slot HTTP/1.1\r\nHost: gateway.example\r\n\r\n');
  t.match(String(await once(idle, 'data')), /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s, 'it waited for all');
  t.equal(await child.exit(), 0);
  t.equal(child.stderr(), '');
});

t.test('on SIGTERM a thread that has work for seconds ends with the process', async (t) => {
  const child = start('busy', ['drainMs=200']);
  const { url } = await waitUntilListening(child);
  const { get } = httpClient(url);
  const headers = { 'content-type': 'application/json' };
  const explain = () => get('/explain', { method: 'POST', headers, body: longestExplainBody() });
  t.equal((await explain()).status, 200);
  const answered = Array.from({ length: 30 }, () =>
    explain().then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  t.ok(await answered[0], 'the first of them');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
  t.ok((await Promise.all(answered)).includes(false), 'it did not wait for all of them');
});

t.test('without a node it listens all the same, says why, and ends with 0 while it waits', async (t) => {
  await cluster.control.stopListening();
  const child = start('waiting', ['upstream.startMs=100']);
  const { url, cluster: known } = await waitUntilListening(child);
  t.equal(known, null);
  await child.waitForOutput(`"node":"node-1","msg":"unavailable: connection refused (${cluster.url})"`);
  const { status, json } = await httpClient(url).get('/health');
  t.match({ status, json }, { status: 503, json: { error: 'unhealthy', message: /node-1: connection refused$/ } });
  child.process.kill('SIGHUP');
  await child.waitForOutput('the receipt keys were reloaded');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
  t.equal(child.stderr(), '');
  await cluster.control.startListening();
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

t.test(
  'without a file descriptor left it says that no node can be reached, and goes on once there is one',
  async (t) => {
    const maxOpenFiles = 256;
    const child = start('full', ['limits.connections=1000'], [], maxOpenFiles);
    const { url } = await waitUntilListening(child);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 }); // the connection that it has accepted already
    t.teardown(() => agent.destroy());
    let asked = 0;
    const readCold = async (): Promise<string> => {
      const request = httpGet(`${url}/api/v1/balance/${addressOfNumber(asked++)}`, { agent });
      const [response] = await once(request, 'response');
      const chunks = await response.toArray();
      return `${response.statusCode} ${Buffer.concat(chunks)}`;
    };
    t.match(await readCold(), /^200 /);
    const callers: Socket[] = [];
    const connectCallers = (count: number): void => {
      for (let i = 0; i < count; i++) {
        const caller = connect(Number(new URL(url).port));
        caller.on('error', () => {}); // libuv resets those that it has no descriptor for
        callers.push(caller);
      }
    };
    connectCallers(maxOpenFiles + 50);
    t.teardown(() => {
      for (const caller of callers) caller.destroy();
    });
    await Promise.all(callers.map((caller) => once(caller, 'connect')));
    await cluster.control.stopListening(); // what it closes with its node, waiting callers take
    await cluster.control.startListening();
    await waitFor(async () => {
      connectCallers(10); // they take the descriptors that an engine has freed
      return (await readCold()) === NO_NODE;
    }, 'an error that says so');
    await waitFor(() => child.stdout().includes('unavailable: EMFILE'), 'the operator to be told why');
    for (const caller of callers) caller.destroy();
    await waitFor(async () => (await readCold()).startsWith('200 '), 'an answer');
    child.process.kill('SIGTERM');
    t.equal(await child.exit(), 0);
  },
);

const NO_NODE = '503 {"error":"upstream_unavailable","message":"no node can be reached"}';

t.test('a system without a binary of LiteSVM gets one sentence and exit code 78', async (t) => {
  // Node resolves the package as on a system for which npm installs none of its binaries.
  const resolver = `export const resolve = (name, context, next) => {
    if (name === 'litesvm') throw new Error('no binary');
    return next(name, context);
  };`;
  const registration = `import { register } from 'node:module'; register("data:text/javascript,${encodeURIComponent(resolver)}");`;
  const args = [
    '--port',
    '0',
    '--state',
    `${folders}/no-litesvm`,
    '--set',
    'embedded.port=0',
    '--set',
    'admin.port=null',
  ];
  const child = runModule(new URL('../../src/main.js', import.meta.url), args, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(registration)}`,
  });
  t.equal(await child.exit(), 78);
  t.match(
    child.stderr(),
    /^slotgate: the embedded cluster does not run on this system: .*name a node with --upstream$/m,
  );
});
