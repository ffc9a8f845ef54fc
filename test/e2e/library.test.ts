import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { createClient, createGateway, type Gateway, type Log, type Settings, StartError } from '../../src/index.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { DEMO_ACCOUNTS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { engineEnvironment, httpClient, startGateway, waitFor } from '../support/harness.ts';
import { holdAnswers, startRpcOverrideProxy } from '../support/rpc-override-proxy.ts';
import { rpcRequest } from '../support/rpc-request.ts';

t.test('create-gateway', async (t) => {
  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);

  const silent: Log = { info() {}, warn() {}, error() {} };

  /** Settings of a gateway over the cluster that is in no other one's way. */
  const settingsIn = (state: string, node = cluster.url): Settings => ({
    upstreams: [`${node},${cluster.wsUrl}`],
    port: 0,
    dataDir: state,
    upstreamPolicy: { startTimeoutMs: 120_000 },
    admin: { port: 0 },
    limits: { loopDelayMs: 60_000 }, // a busy machine refuses no read
  });

  const openIn = async (t: Test, settings: Settings): Promise<Gateway> => {
    const gateway = await createGateway(settings, { logger: silent, env: { ...engineEnvironment() } });
    t.teardown(() => gateway.close());
    return gateway;
  };

  t.test('close answers the pending request, and closes kept connections without waiting for peers', async (t) => {
    const node = await startRpcOverrideProxy(t, cluster.url);
    const gateway = await openIn(t, settingsIn(t.testdir(), node.url));
    await createClient({ url: gateway.url, verify: false }).get('/slot'); // keeps its connection for 4 s
    const kept = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    kept.write('GET /api/v1/slot HTTP/1.1\r\nHost: gateway.example\r\n\r\n');
    await once(kept, 'data');

    const read = holdAnswers(node, 'getMultipleAccounts');
    const pending = httpClient(gateway.url).get(`/balance/${WALLETS[0].address}`);
    await read.requested;
    const closed = gateway.close();
    read.release();
    t.equal((await pending).status, 200);
    const startMs = performance.now();
    await Promise.all([closed, once(kept, 'close')]);
    t.ok(performance.now() - startMs < 3_000, 'the client keeps its connection for 4 s, the socket for ever');
  });

  t.test('a signal closes it, and ends a start', async (t) => {
    const ends = new AbortController();
    const gateway = await createGateway(settingsIn(t.testdir()), { logger: silent, signal: ends.signal });
    ends.abort();
    await gateway.close();
    await t.rejects(fetch(`${gateway.url}/api/v1/slot`));
    await t.rejects(createGateway(settingsIn(t.testdir()), { signal: ends.signal }), { name: 'AbortError' });
    const during = new AbortController();
    const starting = createGateway(settingsIn(t.testdir()), { logger: silent, signal: during.signal });
    during.abort(new Error('not needed any more'));
    await t.rejects(starting, { message: 'not needed any more' });
  });

  t.test('settings are checked as those of a file, and only what is given counts', async (t) => {
    const wrong: object = { prot: 1, port: 70_000 };
    const refused = await createGateway(wrong).catch((thrown: unknown) => thrown);
    t.ok(refused instanceof StartError);
    t.match(refused, {
      exitCode: 78,
      message: /port: expected .*, got 70000 \(settings\); unknown setting prot, .* port/,
    });
    await t.rejects(createGateway({ ...settingsIn(t.testdir()), dataDir: process.execPath }), {
      exitCode: 78,
      message: /the state folder can't be used: .* is no folder; choose another by --data-dir/,
    });
    await t.rejects(createGateway({ ...settingsIn(t.testdir()), host: '192.0.2.1' }), {
      message: "can't listen on 192.0.2.1:0: this machine does not have the address",
    });
    const unset: object = { ...settingsIn(t.testdir()), host: undefined };
    t.match((await openIn(t, unset)).url, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  t.test('two gateways of one process have a listener for operators each, unless its port is chosen', async (t) => {
    const { admin: _, ...settings } = settingsIn(t.testdir());
    const [first, second] = [await openIn(t, settings), await openIn(t, { ...settings, dataDir: t.testdir({}) })];
    t.not(first.admin, second.admin);
    const port = Number(new URL(second.admin ?? '').port);
    await t.rejects(openIn(t, { ...settings, admin: { port } }), StartError);
  });

  t.test('variables that are passed override the settings, and a key among them signs', async (t) => {
    const env = { ...engineEnvironment(), RECEIPT_KEY: 'ephemeral', SLOTGATE_PAGES: 'false' };
    const gateway = await createGateway(settingsIn(t.testdir()), { logger: silent, env });
    t.teardown(() => gateway.close());
    t.equal(gateway.receiptKeyPath, null);
    t.notOk('RECEIPT_KEY' in env);
    t.equal((await fetch(`${gateway.url}/docs`)).status, 404);
  });
});

t.test('embedded-cluster', async (t) => {
  const run = promisify(execFile);
  const ROOT = new URL('../../../', import.meta.url); // from dist/test/e2e
  const section = readFileSync(new URL('src/pages/docs/chapters/embedded-cluster.md', ROOT), 'utf8');
  const [, airdrop = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  const [, sendAndRead = ''] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];

  /** What an older version kept: one genesis for all runs in the folder. */
  const KEPT_GENESIS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';
  const state = t.testdir({ 'cluster.json': JSON.stringify({ hash: KEPT_GENESIS, originMs: 1, slotMs: 400 }) });
  const PATIENT = ['startTimeoutMs', 'timeoutMs', 'slowTimeoutMs'].map((name) => `upstreamPolicy.${name}=120000`);
  const set = [...PATIENT, 'embedded.slotMs=200', 'embedded.transactionsPerSlot=1'];
  const { gateway, get, logged } = await startGateway(t, [], { state, set });
  const rpc = gateway.embedded?.rpc ?? '';
  const asPasted = (code: string): string => code.replaceAll('http://127.0.0.1:8787', gateway.url);

  t.test('the log and, for callers on the same machine, /health have its address', async (t) => {
    const { result } = (await get('/health')).json;
    t.same(result.embedded, { rpc });
    t.equal(await rpcRequest(rpc, 'getGenesisHash'), result.cluster);
    const line = logged.find(({ message }) => /^the embedded demo cluster runs/.test(message));
    t.match(line?.fields, { rpc, cluster: gateway.cluster });
    t.same(
      Object.entries(line?.fields.accounts ?? {}),
      DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, `${address} ${holds}`]),
    );
  });

  t.test('a second gateway in the same folder has a cluster of its own', async (t) => {
    const second = await startGateway(t, [], { state, set: [...set, 'trustedProxies=127.0.0.1'] });
    t.equal(new Set([KEPT_GENESIS, gateway.cluster, second.gateway.cluster]).size, 3);
    const embeddedIn = async (headers: Record<string, string> = {}) =>
      (await second.get('/health', { headers })).json.result.embedded;
    t.same(await embeddedIn(), second.gateway.embedded);
    t.not(second.gateway.embedded?.rpc, rpc);
    t.equal(await embeddedIn({ 'x-forwarded-for': '203.0.113.7' }), null, 'the caller is on another machine');
    t.same(await embeddedIn({ 'x-forwarded-for': '::1' }), second.gateway.embedded);
    t.same((await get('/health', { headers: { 'x-forwarded-for': '203.0.113.7' } })).json.result.embedded, { rpc });
  });

  t.test('the reference names the demo accounts, and they hold what it says', async (t) => {
    const rows = [...section.matchAll(/^\| `(.+)` \| `(.+)` \| (.+) \|$/gm)];
    t.same(
      rows.map(([, ...columns]) => columns),
      DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, address, holds]),
    );
    const lamports: Record<string, number> = {};
    for (const { name, address, holds } of DEMO_ACCOUNTS) {
      lamports[name] = (await get(`/balance/${address}`)).json.result.lamports;
      const [, tokenName] = /^mint of ([\w ]+):/.exec(holds) ?? [];
      if (tokenName !== undefined)
        t.match((await get(`/token/${address}`)).json.result.metadata, { name: tokenName, symbol: name });
    }
    t.ok(Object.values(lamports).every((amount) => amount > 0));
    const [alice, bob, , pool] = DEMO_ACCOUNTS.map(({ address }) => address);
    for (const [owner, tokens] of [
      [alice, 4],
      [bob, 4],
      [pool, 2],
    ] as const) {
      const mints = (await get(`/token-accounts/${owner}`)).json.result.map(({ mint }) => mint);
      for (const { name, address } of DEMO_ACCOUNTS.slice(5, 5 + tokens)) t.ok(mints.includes(address), name);
    }
    await waitFor(async () => (await get(`/address/${alice}/history`)).json.result.rows.length > 0, 'a history');
  });

  interface Statuses {
    readonly value: readonly { readonly confirmationStatus: string; readonly err: unknown }[];
  }

  t.test('the airdrop in the reference lands', async (t) => {
    const { stdout } = await run('sh', ['-c', asPasted(airdrop)]);
    const { result } = JSON.parse(stdout);
    const status = async () => (await rpcRequest<Statuses>(rpc, 'getSignatureStatuses', [[result]])).value[0];
    await waitFor(async () => (await status())?.confirmationStatus === 'confirmed', 'the confirmation');
    t.equal((await status())?.err, null);
  });

  t.test('the program in the reference sends a transaction and reads its own write', async (t) => {
    const file = `${t.testdir()}/send.mjs`;
    writeFileSync(file, asPasted(sendAndRead));
    const { stdout } = await run(process.execPath, [file], { env: { PATH: process.env['PATH'] } });
    const [, sent, read] = /^sent in slot (\d+); at slot (\d+) the balance is 0\.25 SOL\n$/.exec(stdout) ?? [];
    t.ok(Number(read) >= Number(sent), stdout);
  });

  t.test('a portfolio is valued by the prices on the chain', async (t) => {
    const target = `/address/${WALLETS[0].address}/portfolio` as const;
    await waitFor(async () => (await get(target)).status === 200, 'a portfolio');
    const { json } = await get(target);
    const { result } = json;
    t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain' });
    t.ok(result.totalUsd > 0);
    t.equal(result.pricedCount, result.items.length);
    t.ok(result.items.length > 1);
    for (const { mint, priceUsd, priceSource, priceSlot, valueUsd } of result.items) {
      t.ok(mint in PRICE_FEEDS);
      t.equal(priceSource, 'pyth-onchain');
      t.ok(priceUsd > 0 && valueUsd > 0);
      t.ok(priceSlot > 0);
    }
    t.match((await get(`/token/${result.items[1].mint}`)).json.result, { priceSource: 'pyth-onchain' });
  });
});
