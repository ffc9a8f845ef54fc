import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { type ChildProgram, PATIENT_ARGS, startMain, waitUntilListening } from '../support/child-process.ts';
import { engineEnvironment, httpClient, waitFor } from '../support/harness.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { startLiveCluster } from '../support/test-cluster.ts';

const cluster = await startLiveCluster({ slotMs: 100, transactionsPerSlot: 0, ...lastingPort() });
t.teardown(cluster.close);

/** Starts a gateway over the cluster. */
function start(t: Test, set: readonly string[] = [], maxOpenFiles?: number): ChildProgram {
  const upstream = `${cluster.url},${cluster.wsUrl}`;
  const args = ['--port', '0', '--state', t.testdir(), '--upstream', upstream, ...PATIENT_ARGS];
  return startMain(t, [...args, ...set.flatMap((setting) => ['--set', setting])], {}, maxOpenFiles);
}

/** Arguments of a gateway over the embedded cluster, on free ports. */
const EMBEDDED_ARGS = ['--port', '0', '--set', 'embedded.port=0', ...PATIENT_ARGS];

const NO_NODE = '503 {"error":"upstream_unavailable","message":"no node can be reached"}';

/** Makes a body of /explain that takes a thread a tenth of a second: 300 transfers, each of a mint of its own. */
function longExplainBody(): string {
  const programId = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const address = (prefix: string, index: number): string => `${prefix}${index}`.padEnd(43, 'x');
  const accountKeys = Array.from({ length: 19 }, (_, i) => ({ pubkey: address('K', i), signer: true, writable: true }));
  const instructions = Array.from({ length: 300 }, (_, i) => {
    const parties = { source: address('A', i), destination: address('B', i), authority: accountKeys[i % 19]?.pubkey };
    const info = { ...parties, mint: address('M', i), tokenAmount: { amount: '5', decimals: 6 } };
    return { program: 'spl-token', programId, parsed: { type: 'transferChecked', info } };
  });
  const balances = accountKeys.map(() => 1);
  const transaction = { signatures: ['s'], message: { accountKeys, instructions } };
  const meta = { err: null, fee: 5000, preBalances: balances, postBalances: balances, innerInstructions: [] };
  return JSON.stringify({ tx: { transaction, meta: { ...meta, preTokenBalances: [], postTokenBalances: [] } } });
}

t.test('callers that hold all connections leave it the files that it needs to reach its node again', async (t) => {
  const maxOpenFiles = 256;
  const child = start(t, ['limits.connections=1000', 'limits.loopDelayMs=60000'], maxOpenFiles);
  const { url } = await waitUntilListening(child);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }); // the connection that it has accepted already
  t.teardown(() => agent.destroy());
  let sent = 0;
  const readCold = async (): Promise<string> => {
    const request = httpGet(`${url}/api/v1/balance/${addressOfNumber(sent++)}`, { agent });
    const [response] = await once(request, 'response');
    const chunks = await response.toArray();
    return `${response.statusCode} ${Buffer.concat(chunks)}`;
  };
  t.match(await readCold(), /^200 /);
  const callers: Socket[] = [];
  const connectCallers = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const caller = connect(Number(new URL(url).port));
      caller.on('error', () => {}); // those beyond the bound are closed
      callers.push(caller);
    }
  };
  connectCallers(maxOpenFiles + 50);
  await Promise.all(callers.map((caller) => once(caller, 'connect')));
  await cluster.control.stopListening();
  await waitFor(async () => (await readCold()) === NO_NODE, 'a node that is gone');
  connectCallers(10); // they would take what the connections to the node have freed
  await cluster.control.startListening();
  await waitFor(async () => (await readCold()).startsWith('200 '), 'an answer');
  t.notMatch(child.stdout(), 'EMFILE');
  for (const caller of callers) caller.destroy();
});

t.test('without a node it listens all the same, says why, and ends with 0 while it waits', async (t) => {
  await cluster.control.stopListening();
  const child = start(t, ['upstreamPolicy.startTimeoutMs=100']);
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

t.test('on SIGTERM a thread that has work for seconds ends with the process', async (t) => {
  const child = start(t, ['drainTimeoutMs=200', 'limits.free.units=1000000', 'limits.loopDelayMs=60000']);
  const { url } = await waitUntilListening(child);
  const headers = { 'content-type': 'application/json' };
  const { get } = httpClient(url);
  const explain = () => get('/explain', { method: 'POST', headers, body: longExplainBody() });
  await waitFor(async () => (await explain()).status === 200, 'a thread that has its code'); // the first try loads it
  const answered = Array.from({ length: 30 }, () =>
    explain().then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  await Promise.any(answered.map(async (is) => (await is) || Promise.reject(new Error('not answered'))));
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
  t.ok((await Promise.all(answered)).includes(false), 'it did not wait for all of them');
});

t.test('a program that has closed it ends, also where accounts were live over a feed', async (t) => {
  const written = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 1, geyserPort: 0 }); // a feed without writes is refused
  t.teardown(written.close);
  const upstreams = [{ url: written.url, ws: written.wsUrl, geyser: { url: written.geyserUrl } }];
  const program = `
    import { createGateway } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url))};
    const settings = ${JSON.stringify({ port: 0, admin: { port: 0 }, dataDir: t.testdir(), upstreams })};
    const gateway = await createGateway(settings, { logger: { info() {}, warn() {}, error() {} } });
    const get = (path) => fetch(gateway.url + '/api/v1' + path).then((answer) => answer.json());
    let streams = 0;
    while (streams === 0) {
      await get('/balance/${WALLETS[0].address}');
      streams = (await get('/health')).result.geyser?.streams ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await gateway.close();
    console.log('closed');
  `;
  const env = { ...process.env, ...engineEnvironment() };
  const options = { env, timeout: 120_000 }; // one that does not end is killed, and refused by this
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], options);
  t.equal(stdout, 'closed\n');
});

t.test('a system without a binary of LiteSVM gets one sentence and exit code 78', async (t) => {
  // Node resolves the package as on a system for which npm installs none of its binaries.
  const resolver = `export const resolve = (name, context, next) => {
  if (name.startsWith('litesvm')) throw new Error('no binary');
  return next(name, context);
};`;
  const registration = `import { register } from 'node:module'; register("data:text/javascript,${encodeURIComponent(resolver)}");`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(registration)}`;
  const child = startMain(t, [...EMBEDDED_ARGS, '--state', t.testdir()], { NODE_OPTIONS });
  t.equal(await child.exit(), 78);
  t.match(
    child.stderr(),
    /^slotgate: the embedded cluster does not run on this system: .*name a node with --upstream$/m,
  );
});

t.test('the gateway ends with the reason if the thread of its embedded cluster has ended', async (t) => {
  const folder = t.testdir({
    'end-thread.cjs': `
    const { isMainThread } = require('node:worker_threads');
    if (!isMainThread) setTimeout(() => { throw new Error('out of luck'); }, 5000);
  `,
  });
  const child = startMain(t, [...EMBEDDED_ARGS, '--state', folder, '--set', 'log.level=error'], {
    RECEIPT_KEY: 'ephemeral',
    NODE_OPTIONS: `--require=${folder}/end-thread.cjs`,
  });
  t.equal(await child.exit(), 1);
  t.match(child.stdout() + child.stderr(), /out of luck/);
});
