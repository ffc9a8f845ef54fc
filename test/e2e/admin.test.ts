import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { generateApiKey } from '../../src/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/access/api-keys/api-key-store.ts';
import { usagePath } from '../../src/access/usage/usage-file.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { apiKeyRecord, issueKeys } from '../support/access/api-key-fixtures.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { runModule, waitUntilListening } from '../support/child-process.ts';
import {
  type HarnessOptions,
  type SteppedHarnessOptions,
  startGateway,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { LISTED_METRICS, parseMetrics, type ScrapedMetric } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { KERNEL_BUFFER_BYTES, stallPeers } from '../support/stalled-peers.ts';
import { frame, OP } from '../support/websocket-frame.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

/** Starts a gateway with the listener for operators. */
async function startWatched(t: Test, { set = [], ...options }: SteppedHarnessOptions = {}) {
  const world = await startStepped(t, { perSlot: 0, set: ['admin.port=0', ...set], ...options });
  const url = world.gateway.admin ?? '';
  const ask = (path: string, init?: RequestInit): Promise<Response> => fetch(url + path, init);
  const scrape = async (): Promise<ReadonlyMap<string, ScrapedMetric>> =>
    parseMetrics(await (await ask('/metrics')).text());
  /** Returns the sum of the series of a metric whose text contains `part`. */
  const sum = async (name: string, part = ''): Promise<number> =>
    [...((await scrape()).get(name)?.series ?? [])]
      .filter(([series]) => series.includes(part))
      .reduce((total, [, value]) => total + value, 0);
  return { ...world, url, ask, scrape, sum };
}

/** Sends a request with any Host, which `fetch` doesn't allow. */
const statusFor = (url: string, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    socket.once('data', (text: string) => {
      socket.destroy();
      resolve(text.slice(9, 12));
    });
    socket.on('error', reject);
    socket.write(`GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });

t.test('each page answers GET and HEAD, to names of this machine only, until the end', async (t) => {
  const { ask, url, gateway, get, clock, scrape } = await startWatched(t, { set: ['drainDelayMs=5000', 'drainMs=0'] });
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const pages = {
    '/livez': 'text/plain',
    '/readyz': 'text/plain',
    '/metrics': 'text/plain',
    '/statusz': 'text/plain',
    '/statusz?format=json': 'application/json',
    '/usage.json': 'application/json',
  };
  for (const [path, type] of Object.entries(pages)) {
    const got = await ask(path);
    t.match([got.status, got.headers.get('content-type')], [200, type], path);
    t.equal(got.headers.get('access-control-allow-origin'), null);
    t.equal(got.headers.get('cache-control'), 'no-store');
    t.not(await got.text(), '');
    const head = await ask(path, { method: 'HEAD' });
    t.match([head.status, head.headers.get('content-type'), await head.text()], [200, type, ''], `HEAD ${path}`);
  }
  t.equal(await (await ask('/readyz')).text(), '[+]startup ok\n[+]tip ok\n[+]shutdown ok\n');
  const missing = await ask('/nope');
  t.match([missing.status, await missing.text()], [404, '/metrics, /livez, /readyz, /statusz, /usage.json']);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await ask('/metrics', { method });
    t.same([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'], method);
  }
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.1.2.3:80', '[::1]:8788', 'a.localhost'])
    t.equal(await statusFor(url, host), '200', host);
  for (const host of [
    'gateway.example',
    '127.0.0.1.example',
    'localhost.example:8788',
    '10.0.0.1',
    '[::2]',
    '127.0.0.1:80:80',
  ])
    t.equal(await statusFor(url, host), '403', host);

  // It is not ready before the port closes.
  const closing = gateway.close();
  const leaving = await ask('/readyz');
  t.match([leaving.status, await leaving.text()], [503, /^\[-\]shutdown: the gateway is shutting down$/m]);
  t.equal((await scrape()).get('slotgate_ready')?.series.get('slotgate_ready'), 0);
  t.equal((await get('/slot')).status, 200, 'requests are still answered');
  t.equal((await get('/health')).status, 503);
  clock.advance(5000);
  await closing;
  await t.rejects(get('/slot'));
  await t.rejects(ask('/livez'));
});

t.test('a port that was asked for and is taken ends the start; another gives way to the next one', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const open = (set: readonly string[], options: HarnessOptions = {}) =>
    startGateway(t, ['http://127.0.0.1:1'], { ...options, set: ['upstream.startMs=1', ...set] });
  await t.rejects(open([`admin.port=${port}`]), {
    exitCode: 1,
    message: `can't listen on 127.0.0.1:${port} for metrics, probes and status: the port is in use; --admin-port chooses another, --admin-port null none`,
  });
  const { gateway, logged } = await open([`admin.port=${port}`], { isAdminPortChosen: false });
  const { admin } = gateway;
  t.match(admin, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.not(admin, `http://127.0.0.1:${port}`);
  const moved = `port ${port} of 127.0.0.1 is in use: metrics, probes and status are at ${admin}`;
  t.ok(logged.some(({ level, message }) => level === 'warn' && message === moved));
  t.equal((await fetch(`${admin}/livez`)).status, 200);
  const cold = await fetch(`${admin}/readyz`);
  t.match(
    [cold.status, await cold.text()],
    [503, /^\[-\]startup: no node of the cluster was reached yet; node-1: .*\n\[-\]tip: no slot/],
  );
  t.match(await (await fetch(`${admin}/metrics`)).text(), /^slotgate_ready 0$/m);
  const status: any = await (await fetch(`${admin}/statusz?format=json`)).json();
  t.match(
    status.warnings.find(({ message }: any) => message === moved),
    { level: 'warn', time: /^\d{4}-.*Z$/ },
  );
  const wide = await open(['admin.port=0', 'admin.host=0.0.0.0']);
  t.match(
    wide.logged.map(({ message }) => message).find((text) => text.startsWith('metrics')),
    /^metrics, status and usage are served to whoever reaches http:\/\/0\.0\.0\.0:\d+$/,
  );
  t.equal(await statusFor(wide.gateway.admin ?? '', 'gateway.example'), '200', 'where any name may be right');
  t.equal((await open(['admin.port=null'])).gateway.admin, null);
});

t.test('statusz tells what goes on, and no secret', async (t) => {
  const state = t.testdir();
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key));
  const inline = 'ephemeral';
  const secrets = ['s3cr3t-path', 's3cr3t-query', 's3cr3t-user', key];
  const { gateway, get } = await startGateway(
    t,
    ['http://s3cr3t-user:pw@127.0.0.1:1/s3cr3t-path?api-key=s3cr3t-query'],
    { state, receiptKey: { inline, production: false }, set: ['upstream.startMs=1', 'admin.port=0'] },
  );
  await get('/slot', { headers: { 'x-api-key': key } });
  const texts = await Promise.all(
    ['/statusz', '/statusz?format=json', '/metrics', '/usage.json', '/readyz'].map(async (path) =>
      (await fetch(gateway.admin + path)).text(),
    ),
  );
  t.same(
    secrets.filter((secret) => texts.some((text) => text.includes(secret))),
    [],
  );
  t.match(texts[0], /^ready: |^ready$/m);
  t.match(texts[0], /\*\*\*/, 'URLs are masked');
  const status = JSON.parse(texts[1] ?? '');
  t.match(status, {
    slotgate: { version: String, node: process.versions.node },
    cluster: null,
    nodes: [{ id: 'node-1', status: 'down' }],
    config: { drainMs: 0 },
  });
  t.ok(status.warnings.length > 0);
});

t.test('every metric of the list is there, as it is listed, and moves', async (t) => {
  const state = t.testdir();
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key));
  const world = await startWatched(t, {
    state,
    hasSecondNode: true,
    set: [
      'limits.free.requests=300',
      'limits.free.inFlight=20',
      'limits.connections=200',
      'cache.bytes=131072',
      'watch.auditMs=1000',
      'log.slowMs=400',
    ],
  });
  const { gateway, get, rpc, node, cluster, clock, step, scrape, sum, ask } = world;
  const seen = new Map<string, Set<string>>();
  const look = async (): Promise<void> => {
    for (const [name, { series }] of await scrape())
      seen.set(name, (seen.get(name) ?? new Set()).add(JSON.stringify([...series])));
  };
  const misses: unknown[] = [];
  const calls: unknown[] = [];
  const onMiss = (message: unknown): unknown => misses.push(message);
  const onCall = (message: unknown): unknown => calls.push(message);
  subscribe('slotgate:miss', onMiss);
  subscribe('slotgate:upstream', onCall);
  t.teardown(() => unsubscribe('slotgate:miss', onMiss) && unsubscribe('slotgate:upstream', onCall));
  await look();

  await get('/slot');
  await get(`/balance/${WALLETS[0].address}`);
  t.match(misses, [
    {
      route: '/balance/:addr',
      method: 'get',
      path: `/api/v1/balance/${WALLETS[0].address}`,
      status: 200,
      upstreamCalls: 1,
    },
  ]);
  t.match(calls.at(-1), { upstream: 'node-1', method: 'getMultipleAccounts', result: 'ok', ms: Number });
  for (let i = 0; i < 3; i++) await get(`/balance/${WALLETS[0].address}`, { headers: { 'x-api-key': key } });
  await get('/nope');
  await rpc({ method: 'getHealth' });
  await rpc({ method: 'getBlock', params: ['x'] });

  // Reads that wait for a node: equal ones, and more than a caller may have.
  const waiting: (() => void)[] = [];
  const hold = (): Promise<undefined> => new Promise((resolve) => waiting.push(() => resolve(undefined)));
  const letGo = (): void => {
    node.overrides.delete('getMultipleAccounts');
    for (const answer of waiting.splice(0)) answer();
  };
  node.overrides.set('getMultipleAccounts', hold);
  const addresses = Array.from({ length: 120 }, (_, n) => addressOfNumber(n + 1));
  const equal = [1, 2].map(() => get(`/balance/${addresses[119]}`));
  await waitFor(() => waiting.length > 0, 'the first read');
  const many = addresses.slice(0, 50).map((address) => get(`/balance/${address}`));
  await waitFor(async () => (await sum('slotgate_admission_refused_total')) > 0, 'a refusal');
  await look();
  t.ok((await sum('slotgate_admission_waiting')) > 0);
  t.ok((await sum('slotgate_http_responses_owed')) > 20);
  letGo();
  await Promise.all([...equal, ...many]);
  for (let from = 50; from < 119; from += 20)
    await Promise.all(addresses.slice(from, from + 20).map((address) => get(`/balance/${address}`)));
  t.ok((await sum('slotgate_cache_evictions_total')) > 0);
  t.ok((await sum('slotgate_cache_reads_total', 'joined')) > 0);

  // A late read is asked of the other node, too.
  await step();
  node.overrides.set('getMultipleAccounts', hold);
  const late = get(`/balance/${WALLETS[1]?.address}`);
  await waitFor(() => waiting.length > 0, 'the late read');
  clock.advance(500);
  t.equal((await late).status, 200);
  letGo();
  t.equal(await sum('slotgate_upstream_hedges_total', 'node-1'), 1);
  t.match(
    world.logged.filter(({ message }) => message === 'a slow request'),
    [
      {
        level: 'info',
        fields: {
          route: '/balance/:addr',
          ms: 500,
          status: 200,
          requestId: (await late).headers.get('x-request-id'),
          upstreamCalls: 1,
        },
      },
    ],
  );

  // Callers that ask too often, owe, or read nothing.
  const hit = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n';
  const stranger = await RawConnection.open(gateway.url, '127.0.9.9');
  t.teardown(() => stranger.reset());
  stranger.write(hit.repeat(301));
  await waitFor(async () => (await sum('slotgate_untrusted_forwarded_total')) === 1, 'a refused stranger');
  for (let i = 0; i < 201; i++) (await RawConnection.open(gateway.url, '127.0.9.10')).reset();
  await waitFor(async () => (await sum('slotgate_http_connections_refused_total')) > 0, 'a refused connection');
  const owing = await RawConnection.open(gateway.url, '127.0.9.11');
  t.teardown(() => owing.reset());
  owing.write(hit.repeat(299));
  await waitFor(() => owing.text.split('"slot":').length > 299, 'the hits');
  const bytes = KERNEL_BUFFER_BYTES + 1_000_000;
  node.overrides.set('getBlock', async () => ({ result: `"${'0'.repeat(Math.min(bytes, 8_000_000))}"` }));
  owing.socket.pause();
  const body = JSON.stringify({ method: 'getBlock', params: [1] });
  owing.write(`POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await waitFor(async () => (await sum('slotgate_ratelimit_debt_units_total')) > 0, 'a debt');
  await look();

  // Listeners, one of which reads nothing.
  const listener = await WebSocketPeer.open(gateway.url);
  const slow = await WebSocketPeer.open(gateway.url, '?format=msgpack&interval=1000', '127.0.9.12');
  t.teardown(() => [listener, slow].map(({ connection }) => connection.reset()));
  await listener.send(
    frame(OP.text, JSON.stringify({ op: 'subscribe', topic: 'balance', address: WALLETS[2]?.address })),
  );
  await waitFor(() => listener.replies.length > 0, 'the first value');
  t.equal(await sum('slotgate_stream_connections', 'format="msgpack",interval="1000"'), 1);
  t.equal(await sum('slotgate_stream_subscriptions', 'topic="balance"'), 1);
  await step(4);
  await look();
  await stallPeers(gateway.url, [slow]);
  await step(10);
  t.ok((await sum('slotgate_stream_dropped_total')) > 0);
  listener.connection.reset();
  await waitFor(async () => (await sum('slotgate_stream_closes_total', 'code="1006"')) > 0, 'the end of a listener');

  // A node that fails, and one that is gone for a moment.
  node.overrides.set('getEpochInfo', async () => ({ error: '{"code":-32602,"message":"no"}' }));
  await step(5);
  t.ok((await sum('slotgate_pipeline_failures_total', '/epoch')) > 0);
  await cluster.control.dropWebSockets();
  await waitFor(async () => {
    clock.advance(100);
    return (await sum('slotgate_upstream_reconnects_total', 'node-1')) > 0;
  }, 'a WebSocket that is open again');
  node.overrides.clear();
  t.equal((await get(`/balance/${WALLETS[0].address}`)).status, 200);
  await cluster.control.stopListening();
  await waitFor(async () => {
    clock.advance(500);
    await get(`/balance/${WALLETS[0].address}`);
    return (await sum('slotgate_cache_reads_total', 'stale')) > 0;
  }, 'a stale answer');
  await look();
  await cluster.control.startListening();

  // The usage of keys, until its file can't be written.
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const usage = async (query = ''): Promise<any> => ((await (await ask(`/usage.json${query}`)).json()) as any).usage;
  await waitFor(async () => (await usage()).length > 0, 'the usage');
  const row = {
    day,
    key: key.slice(-8),
    route: '/balance/:addr',
    answered: 3,
    refused: 0,
    limited: 0,
    failed: 0,
    units: 3,
  };
  t.same(await usage(), [row]);
  t.same(await usage(`?day=${day}&key=${key.slice(-8)}`), [row]);
  t.same(await usage('?day=2020-01-01'), []);
  rmSync(usagePath(state));
  mkdirSync(usagePath(state));
  await get('/slot', { headers: { 'x-api-key': key } });
  clock.advance(1100);
  await look();

  owing.reset();
  await waitFor(async () => (await sum('slotgate_http_responses_owed')) === 0, 'the end of the answers');
  const scraped = await scrape();
  const listed = new Map(LISTED_METRICS.map((metric) => [metric.name, metric]));
  t.same([...scraped.keys()], [...listed.keys()], 'all that is listed, in this order, and no more');
  const differing = [...scraped.values()].filter(({ name, type, help, labels, series }) => {
    const metric = listed.get(name);
    const [isTyped, isHelped] = [metric?.type === type, metric?.help === help];
    return !isTyped || !isHelped || series.size === 0 || JSON.stringify(metric?.labels) !== JSON.stringify(labels);
  });
  t.same(differing, [], 'type, labels and help are those of the list, and there is a value');
  t.same(
    [...seen]
      .filter(([, texts]) => texts.size === 1)
      .map(([name]) => name)
      .sort(),
    [...CONSTANT].sort(),
    'all others have moved',
  );
});

/** The metrics that nothing of this test moves: some are constant, others tell of what must not happen, of the end, or of another clock. */
const CONSTANT = [
  'slotgate_ready',
  'slotgate_cache_limit_bytes',
  'slotgate_watch_false_claims_total',
  'slotgate_watch_followed',
  'slotgate_watch_role',
  'slotgate_workers',
  'slotgate_reload_failures_total',
  'slotgate_feed_messages_total',
  'slotgate_feed_bytes_total',
  'slotgate_feed_rejected_total',
  'slotgate_feed_gaps_total',
  'slotgate_feed_snapshots_total',
  'slotgate_receipt_conflicts_total',
  'slotgate_receipt_exact',
  'slotgate_receipt_key_info',
  'slotgate_build_info',
  'slotgate_event_loop_delay_seconds',
  'process_start_time_seconds',
  'process_max_fds',
];

t.test('the command tells where the listener is', async (t) => {
  const child = runModule(new URL('../../src/main.js', import.meta.url), [
    ...['--port', '0', '--state', t.testdir(), '--upstream', 'http://127.0.0.1:1', '--admin-port', '0'],
    ...['--set', 'upstream.startMs=1'],
  ]);
  t.teardown(() => child.process.kill('SIGKILL'));
  t.match(await waitUntilListening(child), { admin: /^http:\/\/127\.0\.0\.1:\d+$/ });
});
