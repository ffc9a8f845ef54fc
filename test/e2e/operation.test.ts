import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { readUsage, usagePath } from '../../src/gateway/access/usage/usage-file.ts';
import { readDeclarations } from '../../src/gateway/admin/metric.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { StartError } from '../../src/shared/domain/start-error.ts';
import { DOCUMENT_PATHS, loadSite, SITE_PATHS } from '../../src/shared/site/site.ts';
import { issueKey } from '../support/access/api-key-fixtures.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { createDocumentChecker } from '../support/assert-documented.ts';
import {
  type GatewayHarness,
  type HarnessOptions,
  type LogLine,
  type SteppedHarnessOptions,
  startGateway,
  startGatewayOver,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { parseMetrics, type ScrapedMetric } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchange } from '../support/raw-http.ts';
import { KERNEL_BUFFER_BYTES, stallPeers } from '../support/stalled-peers.ts';
import { startTestCluster, type TestCluster } from '../support/test-cluster.ts';
import { frame, OP } from '../support/websocket-frame.ts';
import { upgradeRequest, WebSocketPeer } from '../support/websocket-peer.ts';

t.test('admin', async (t) => {
  async function startWatched(t: Test, { set = [], ...options }: SteppedHarnessOptions = {}) {
    const world = await startStepped(t, { set: ['admin.port=0', ...set], ...options });
    const url = world.gateway.admin ?? '';
    const fetchFrom = (path: string, init?: RequestInit): Promise<Response> => fetch(url + path, init);
    const scrape = async (): Promise<ReadonlyMap<string, ScrapedMetric>> =>
      parseMetrics(await (await fetchFrom('/metrics')).text());
    /** Returns the sum of the series of a metric whose text contains `part`. */
    const sum = async (name: string, part = ''): Promise<number> =>
      [...((await scrape()).get(name)?.series ?? [])]
        .filter(([series]) => series.includes(part))
        .reduce((total, [, value]) => total + value, 0);
    return { ...world, url, fetchFrom, scrape, sum };
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

  /** Sends a request for an upgrade, with a length of its body or none, and resets the connection. */
  const resetUpgrade = (url: string, headers: Readonly<Record<string, string>>): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
        socket.write(upgradeRequest('', headers), () => socket.resetAndDestroy());
      });
      socket.on('close', () => resolve());
    });

  t.test('each page answers GET and HEAD, to names of this machine only, until the end', async (t) => {
    const { fetchFrom, url, gateway, get, clock, scrape } = await startWatched(t, {
      set: ['drainDelayMs=5000', 'drainTimeoutMs=0'],
    });
    for (let i = 0; i < 50; i++) await resetUpgrade(url, i % 2 ? { 'Content-Length': '5' } : {}); // one that is not caught fails the test
    const pipelined = await RawConnection.open(url);
    pipelined.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n${upgradeRequest('', { Host: 'localhost' })}`);
    await waitFor(() => pipelined.closed, 'both answers');
    t.match(pipelined.text, /^HTTP\/1\.1 200 .*\nok\nHTTP\/1\.1 404 .*WebSockets are at/s);
    const flood = await RawConnection.open(url);
    flood.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500));
    await waitFor(() => flood.text !== '', 'the first answer');
    t.ok(flood.text.split('HTTP/1.1 200').length < 9, 'requests that came together are answered in turns of their own');
    flood.reset();
    t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const pages = {
      '/': 'text/html',
      '/livez': 'text/plain',
      '/readyz': 'text/plain',
      '/metrics': 'text/plain',
      '/statusz': 'text/plain',
      '/statusz?format=json': 'application/json',
      '/usage.json': 'application/json',
    };
    for (const [path, type] of Object.entries(pages)) {
      const got = await fetchFrom(path);
      t.match([got.status, got.headers.get('content-type')], [200, type], path);
      t.equal(got.headers.get('access-control-allow-origin'), null);
      t.equal(got.headers.get('cache-control'), 'no-store');
      t.not(await got.text(), '');
      const head = await fetchFrom(path, { method: 'HEAD' });
      t.match([head.status, head.headers.get('content-type'), await head.text()], [200, type, ''], `HEAD ${path}`);
    }
    const index = await (await fetchFrom('/')).text();
    const links = [...index.matchAll(/<a href="([^"]+)">/g)].map(([, path = '']) => path);
    t.equal(links.length, 5);
    for (const path of links) t.equal((await fetchFrom(`/${path}`)).status, 200, path);
    t.match(index, /It is ready.*\/docs\/operate#operate-alerts/);
    t.equal(await (await fetchFrom('/readyz')).text(), '[+]startup ok\n[+]tip ok\n[+]shutdown ok\n');
    const missing = await fetchFrom('/nope');
    t.match([missing.status, await missing.text()], [404, '/, /metrics, /livez, /readyz, /statusz, /usage.json']);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const refused = await fetchFrom('/metrics', { method });
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
    const leaving = await fetchFrom('/readyz');
    t.match([leaving.status, await leaving.text()], [503, /^\[-\]shutdown: the gateway is shutting down$/m]);
    t.equal((await scrape()).get('slotgate_ready')?.series.get('slotgate_ready'), 0);
    t.equal((await get('/slot')).status, 200, 'requests are still answered');
    t.equal((await get('/health')).status, 503);
    clock.advance(5000);
    await closing;
    await t.rejects(get('/slot'));
    await t.rejects(fetchFrom('/livez'));
  });

  t.test('a configured port that is in use ends the start; another gives way to the next one', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    t.teardown(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const open = (set: readonly string[], options: HarnessOptions = {}) =>
      startGateway(t, ['http://127.0.0.1:1'], { ...options, set: ['upstreamPolicy.startTimeoutMs=1', ...set] });
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
    const status = JSON.parse(await (await fetch(`${admin}/statusz?format=json`)).text());
    const warning = status.warnings.find(({ message }: LogLine) => message === moved);
    t.match(warning, { level: 'warn', time: /^\d{4}-.*Z$/ });
    const wide = await open(['admin.port=0', 'admin.host=0.0.0.0']);
    const line = wide.logged.map(({ message }) => message).find((text) => text.startsWith('metrics'));
    t.match(line, /^metrics, status and usage are served to anybody that reaches http:\/\/0\.0\.0\.0:\d+$/);
    t.equal(await statusFor(wide.gateway.admin ?? '', 'gateway.example'), '200', 'where any name may be right');
    t.equal((await open(['admin.port=null'])).gateway.admin, null);
  });

  t.test('statusz shows what goes on, and no secret', async (t) => {
    const state = t.testdir();
    const key = await issueKey(state);
    const inline = 'ephemeral';
    const secrets = ['s3cr3t-path', 's3cr3t-query', 's3cr3t-user', key];
    const { gateway, get } = await startGateway(
      t,
      ['http://s3cr3t-user:pw@127.0.0.1:1/s3cr3t-path?api-key=s3cr3t-query'],
      { state, receiptKey: { inline, production: false }, set: ['upstreamPolicy.startTimeoutMs=1', 'admin.port=0'] },
    );
    await get('/slot', { headers: { 'x-api-key': key } });
    const texts = await Promise.all(
      ['/statusz', '/statusz?format=json', '/metrics', '/usage.json', '/readyz'].map(async (path) =>
        (await fetch(gateway.admin + path)).text(),
      ),
    );
    const leaked = secrets.filter((secret) => texts.some((text) => text.includes(secret)));
    t.same(leaked, []);
    t.match(texts[0], /^ready: |^ready$/m);
    t.match(texts[0], /\*\*\*/, 'URLs are masked');
    const status = JSON.parse(texts[1] ?? '');
    t.match(status, {
      slotgate: { version: String, node: process.versions.node },
      cluster: null,
      nodes: [{ id: 'node-1', status: 'down' }],
      config: { drainTimeoutMs: 0 },
    });
    t.ok(status.warnings.length > 0);
  });

  t.test('every metric of the list is there, as it is listed, and moves', async (t) => {
    const state = t.testdir();
    const key = await issueKey(state);
    const world = await startWatched(t, {
      state,
      hasSecondNode: true,
      set: [
        'limits.free.units=300',
        'limits.free.inFlight=20',
        'limits.connections=200',
        'cache.bytes=131072',
        'live.auditMs=1000',
        'log.slowMs=400',
      ],
    });
    const { gateway, get, rpc, node, cluster, clock, step, scrape, sum, fetchFrom } = world;
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

    // A late read goes to the other node, too.
    await step();
    node.overrides.set('getMultipleAccounts', hold);
    const late = get(`/balance/${WALLETS[1]?.address}`);
    await waitFor(() => waiting.length > 0, 'the late read');
    clock.advance(500);
    t.equal((await late).status, 200);
    letGo();
    t.ok((await sum('slotgate_upstream_hedges_total', 'node-1')) > 0); // those of refreshes, too
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

    // Callers above their rate, in debt, or reading nothing.
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
    const usage = async (query = ''): Promise<object[]> =>
      JSON.parse(await (await fetchFrom(`/usage.json${query}`)).text()).usage;
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
    const listed = new Map(readDeclarations().map((metric) => [metric.name, metric]));
    t.same([...scraped.keys()], [...listed.keys()], 'all that is listed, in this order, and no more');
    const differing = [...scraped.values()].filter(({ name, type, help, labels, series }) => {
      const metric = listed.get(name);
      const [isTyped, isHelped] = [metric?.type === type, metric?.help === help];
      if (series.size === 0 && name.startsWith('slotgate_geyser_')) return !isTyped || !isHelped; // no node has a feed
      return !isTyped || !isHelped || series.size === 0 || JSON.stringify(metric?.labels) !== JSON.stringify(labels);
    });
    t.same(differing, [], 'type, labels and help are those of the list, and there is a value');
    t.same(
      [...seen]
        .filter(([name, texts]) => texts.size === 1 && name !== MOVED_BY_CHANCE)
        .map(([name]) => name)
        .sort(),
      [...CONSTANT].sort(),
      'all others have moved',
    );
  });

  /** A scrape that comes between a node's slot and the next one sees no node behind. */
  const MOVED_BY_CHANCE = 'slotgate_upstream_behind_slots';

  /** The metrics that nothing of this test moves: constants, and what must not happen, comes at the end, or follows another clock. */
  const CONSTANT = [
    'slotgate_ready',
    'slotgate_cluster_consensus',
    'slotgate_cache_limit_bytes',
    'slotgate_watch_false_claims_total',
    'slotgate_upstream_disagreements_total',
    'slotgate_upstream_disagreement_slot',
    'slotgate_upstream_undecided_total',
    'slotgate_watch_followed',
    'slotgate_watch_role',
    'slotgate_workers',
    'slotgate_reload_failures_total',
    'slotgate_feed_messages_total',
    'slotgate_feed_bytes_total',
    'slotgate_feed_rejected_total',
    'slotgate_feed_gaps_total',
    'slotgate_feed_snapshots_total',
    // of a Geyser feed, which no node of this test has
    'slotgate_geyser_accounts',
    'slotgate_geyser_behind_slots',
    'slotgate_geyser_gaps',
    'slotgate_geyser_reconnects',
    'slotgate_geyser_up',
    'slotgate_receipt_conflicts_total',
    'slotgate_receipt_exact',
    'slotgate_receipt_key_info',
    'slotgate_build_info',
    'slotgate_event_loop_delay_seconds',
    'process_start_time_seconds',
    'process_max_fds',
  ];
});

t.test('health', async (t) => {
  t.test('when the only node has gone back, health names it and the reason (I13)', async (t) => {
    const set = ['cache.maxStaleMs=8000', 'admin.port=0'];
    const { gateway, get, step, cluster, clock } = await startStepped(t, { set });
    await step(4);
    const before = cluster.chain.slot('processed');
    await cluster.control.skewSlots(-1400);
    const pass = async (): Promise<void> => {
      clock.advance(400);
      await sleep(4);
    };
    await waitFor(async () => {
      await pass();
      return (await get('/health')).json.result.upstreams[0].status === 'down';
    }, 'the refusal');
    const { result } = (await get('/health')).json;
    t.equal(result.status, 'degraded', 'the last answers may still be given');
    t.same(Object.keys(result.upstreams[0]), ['id', 'status', 'slot', 'behindSlots', 'ws', 'operator']);
    t.equal(result.embedded, null, 'these nodes are configured');
    t.match(await (await fetch(`${gateway.admin}/`)).text(), /<ul><li>node-1: it went back/, 'operators read it, too');
    await waitFor(async () => {
      await pass();
      return (await get('/health')).status === 503;
    }, 'bad health');
    const { error, message } = (await get('/health')).json;
    t.equal(error, 'unhealthy');
    const pattern = /^no new slot for \d+ s; node-1: it went back from slot (\d+) to (\d+)$/.exec(message);
    t.ok(pattern !== null, message);
    const [from, to] = [Number(pattern?.[1]), Number(pattern?.[2])];
    t.ok(from >= before - 64 && from - to > 1000, `${from} to ${to}`);
  });

  t.test('when a cluster has no new slots, health names the node that shows none', async (t) => {
    const set = ['cache.maxStaleMs=8000', 'upstreamPolicy.idleTimeoutMs=4000'];
    const { gateway, get, cluster, clock, logged } = await startStepped(t, { set });
    await cluster.control.pauseSlots();
    await waitFor(async () => {
      clock.advance(400);
      await sleep(4);
      return (await get('/health')).status === 503;
    }, 'bad health');
    const { headers, json } = await get('/health');
    t.same(Object.keys(json), ['error', 'message']);
    const [, age] = /^no new slot for (\d+) s; node-1: its slot does not advance$/.exec(json.message) ?? [];
    t.same(
      ['x-cluster', 'x-slot', 'x-slot-age'].map((name) => headers.get(name)),
      [gateway.cluster, String(cluster.chain.slot('processed')), age],
      'what it still knows stands in headers',
    );
    const messages = (pattern: RegExp): string[] =>
      logged.map(({ message }) => message).filter((message) => pattern.test(message));
    const pass = async (): Promise<void> => {
      clock.advance(400);
      await sleep(4);
    };
    for (let n = 0; n < 50; n++) await pass();
    t.match(messages(/^unhealthy/), [/^unhealthy: no new slot for \d+ s; node-1: its slot does not advance$/], 'once');
    t.match(
      messages(/^unavailable/),
      [/^unavailable: its slot does not advance \(http:\/\/127\.0\.0\.1:\d+\)$/],
      'once',
    );
    await cluster.control.resumeSlots();
    await waitFor(async () => {
      await pass();
      return messages(/^healthy again$/).length > 0 && messages(/^available again$/).length > 0;
    }, 'good health');
  });

  t.test('what cannot be written is a problem within five seconds, and none within five after it can be', async (t) => {
    const state = t.testdir();
    const key = await issueKey(state);
    mkdirSync(usagePath(state)); // a folder in the place of the file: each write fails
    const { get, clock } = await startStepped(t, { state });
    const problemsAfter = async (ms: number): Promise<readonly string[]> => {
      for (let i = 0; i < ms / 1000; i++) clock.advance(1000);
      return (await get('/health')).json.result.problems;
    };
    t.equal((await get('/slot', { headers: { 'x-api-key': key } })).status, 200);
    t.match(await problemsAfter(4000), [/^usage can't be written, and is kept in memory until it can: EISDIR/]);
    t.equal((await get('/health')).json.result.status, 'degraded');
    rmdirSync(usagePath(state));
    t.same(await problemsAfter(4000), []);
    t.equal(readUsage(usagePath(state))[0]?.counts[0], 1, 'nothing of it is lost');
  });
});

t.test('pages', async (t) => {
  const { gateway, cluster } = await startStepped(t);
  const site = await loadSite();
  const fileAt = (path: string) => site.get(SITE_PATHS.get(path) ?? '');
  const url = `${gateway.url}/verify`;
  const page = fileAt('/verify');

  t.test('each page is served as it was built, with a policy that lets it load nothing', async (t) => {
    for (const path of ['/', '/explorer', '/docs', '/verify', '/explorer?q=%231']) {
      const answer = await fetch(gateway.url + path);
      const file = fileAt(new URL(path, url).pathname);
      t.equal(answer.status, 200, path);
      t.equal(await answer.text(), file?.identity.toString());
      t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      t.equal(answer.headers.get('cache-control'), 'no-cache');
      t.match(
        answer.headers.get('content-security-policy'),
        /^default-src 'none'; .*trusted-types 'none'; frame-ancestors/,
      );
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      t.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
      t.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin');
      t.match(answer.headers.get('permissions-policy'), /^camera=\(\), /);
      t.equal(answer.headers.get('access-control-allow-origin'), null, 'pages of other origins read none');
      for (const name of ['limit', 'remaining', 'reset']) t.match(answer.headers.get(`x-ratelimit-${name}`), /^\d+$/);
    }
  });

  t.test('the preview of a link gets whole URLs, and the subject of a search', async (t) => {
    const headOf = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = { 'accept-encoding': 'gzip', ...headers };
        request(gateway.url + path, { headers: sent }, async (answer) => {
          const isPacked = sent['accept-encoding'] === 'gzip';
          t.equal(answer.headers['content-encoding'], isPacked ? 'gzip' : undefined, path);
          const body = Buffer.concat(await answer.toArray());
          resolve((isPacked ? gunzipSync(body) : body).toString().split('<style>')[0] ?? '');
        })
          .once('error', reject)
          .end();
      });
    t.match(await headOf('/'), `<meta property="og:image" content="${gateway.url}/card.png">`);
    for (const coding of ['br', 'gzip;q=0, br'])
      t.match(await headOf('/', { 'accept-encoding': coding }), '/card.png">', 'a crawler may refuse gzip');
    const behindTls = await headOf('/docs/start', { host: 'slots.example', 'x-forwarded-proto': 'https' });
    t.match(behindTls, '<meta property="og:image" content="https://slots.example/card.png">');
    t.match(behindTls, /<meta property="og:title" content="slotgate: [^"]+">/);
    t.match(await headOf('/explorer?q=470126522'), '<meta property="og:title" content="Solana slot 470,126,522">');
    t.match(await headOf(`/explorer?q=${WALLETS[0].address}`), /<title>Solana address \w{4}…\w{4} · slotgate</);
    t.match(await headOf('/explorer?q=%22%3E%3Cscript%3E'), '<title>slotgate: explorer<');
    t.match(await headOf('/', { host: "x'&$'" }), '<meta property="og:image" content="card.png">');
    const card = await fetch(`${gateway.url}/card.png`);
    t.equal(card.headers.get('content-type'), 'image/png');
    const size = Buffer.from(await card.arrayBuffer()).subarray(16, 24);
    t.same([size.readUInt32BE(0), size.readUInt32BE(4)], [1200, 630]);
  });

  t.test('a badge shows a value of the network, for pages of any origin', async (t) => {
    const badge = (query: string): Promise<Response> => fetch(`${gateway.url}/badge.svg${query}`);
    for (const [query, shown] of [
      ['', />Solana slot<.*>[\d,]+<\/text><\/g><\/svg>$/],
      ['?field=tps', />Solana TPS</],
      ['?field=health', />live<\/text><\/g><\/svg>$/],
    ] as const) {
      const answer = await badge(query);
      const svg = await answer.text();
      t.match(svg, shown);
      t.ok(svg.length < 1000, `${svg.length} bytes`);
      t.equal(answer.headers.get('content-type'), 'image/svg+xml');
      t.equal(answer.headers.get('cache-control'), 'public, max-age=5');
      t.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin');
    }
    const refused = await badge('?field=%3Cscript%3E');
    t.equal(refused.status, 400);
    t.match(await refused.json(), { error: 'invalid_query', message: 'field must be one of slot, tps, health' });
  });

  t.test('people whose page does not exist get one that leads on, programs JSON', async (t) => {
    const accept = 'text/html,application/xhtml+xml';
    for (const [path, root] of [
      ['/nope', './'],
      ['/docs/nope', '../'],
      ['/a/b/c', '../../'],
    ] as const) {
      const answer = await fetch(gateway.url + path, { headers: { accept } });
      const html = await answer.text();
      t.match([answer.status, answer.headers.get('content-type')], [404, 'text/html; charset=utf-8'], path);
      t.match(html, `<a href="${root}explorer">`);
      t.match(html, `action="${root}explorer"`);
      t.notMatch(html, '{{');
      t.match(answer.headers.get('content-security-policy'), /script-src 'none'; .*form-action 'self'/);
      t.match(await (await fetch(gateway.url + path)).json(), { error: 'route_not_found' });
    }
    t.match(await (await fetch(`${gateway.url}/api/v1/nope`, { headers: { accept } })).json(), {
      error: 'route_not_found',
    });
    t.match(await (await fetch(`${gateway.url}/${'x/'.repeat(900)}`)).headers.get('link'), /^<\/docs\/errors#/);
  });

  t.test('browsers find an icon and the search, and robots what to leave out', async (t) => {
    const text = async (path: string): Promise<string> => (await fetch(gateway.url + path)).text();
    t.match(await text('/robots.txt'), 'Disallow: /api/');
    t.match(await text('/opensearch.xml'), `template="${gateway.url}/explorer?q={searchTerms}"`);
    t.equal((await fetch(`${gateway.url}/favicon.ico`)).headers.get('content-type'), 'image/x-icon');
  });

  t.test('the widget is a script for pages of any origin', async (t) => {
    const { status, headers } = await fetch(`${gateway.url}/widget.js`);
    t.equal(status, 200);
    t.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
    t.equal(headers.get('cache-control'), 'public, max-age=300, stale-while-revalidate=86400');
    t.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
    t.match(headers.get('etag'), /^W\/"[0-9a-f]{16}"$/);
  });

  t.test('without pages their paths do not exist, and the documents do', async (t) => {
    const { gateway: bare } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`], {
      set: ['pages=false', 'admin.port=0'],
    });
    const statuses = await Promise.all(
      [...SITE_PATHS.keys(), ...DOCUMENT_PATHS.keys()].map(async (path) => (await fetch(bare.url + path)).status),
    );
    t.same(statuses, [...[...SITE_PATHS].map(() => 404), 200, 200]);
    const refused = await Promise.all(
      [gateway, bare].map(async ({ url }) => (await fetch(`${url}/api/v1/balance/x`)).headers.has('link')),
    );
    t.same(refused, [true, false], 'no error links to a page that is not served');
    t.match(
      await (await fetch(`${bare.admin}/`)).text(),
      /<p>src\/pages\/docs\/chapters\/operate\.md of the sources says/,
    );
  });

  t.test('the page is sent in the best coding that the caller accepts', async (t) => {
    const lengthFor = (coding: string, from = url, sentByBrowsers = 'sec-fetch-mode') =>
      new Promise<[string | undefined, number]>((resolve, reject) => {
        request(from, { headers: { 'accept-encoding': coding, [sentByBrowsers]: '1' } }, (answer) => {
          answer.resume();
          resolve([answer.headers['content-encoding'], Number(answer.headers['content-length'])]);
        })
          .once('error', reject)
          .end();
      });
    t.same(await lengthFor('gzip, br'), ['br', page?.br.length]);
    t.same(await lengthFor('gzip, br', url, 'upgrade-insecure-requests'), ['br', page?.br.length], 'over plain HTTP');
    t.same(await lengthFor('gzip'), ['gzip', page?.gzip.length]);
    t.same(await lengthFor('identity'), [undefined, page?.identity.length]);
    const document = `${gateway.url}/api/v1/openapi.json`;
    const [, whole] = await lengthFor('identity', document);
    const [coding, compressed] = await lengthFor('gzip, br', document);
    t.equal(coding, 'br');
    t.ok(compressed < whole / 4, `the document has ${compressed} of ${whole} bytes`);
    const etag = (await fetch(document)).headers.get('etag') ?? '';
    t.equal((await fetch(document, { headers: { 'if-none-match': etag } })).status, 304);
  });

  t.test('a caller with the page gets 304, HEAD has its headers, and other methods are refused', async (t) => {
    const first = await fetch(url, { method: 'HEAD' });
    t.equal(first.status, 200);
    t.equal(await first.text(), '');
    const again = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    t.equal(again.status, 304);
    t.equal(again.headers.get('content-security-policy'), first.headers.get('content-security-policy'));
    const posted = await fetch(url, { method: 'POST', body: '{}' });
    t.equal(posted.status, 405);
    t.equal(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
    t.match(await posted.json(), { error: 'method_not_allowed' });
    t.equal((await fetch(`${url}/x`)).status, 404);
  });
});

t.test('start-without-nodes', async (t) => {
  const START_MS = 3000;
  const OTHER_GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
  const balance = `/balance/${WALLETS[0].address}`;

  /** Starts a cluster that does not listen, and a gateway over it. */
  async function startOverClosedPort(
    t: Test,
    set: readonly string[] = [],
  ): Promise<{ readonly cluster: TestCluster; readonly clock: ManualClock; readonly world: GatewayHarness }> {
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, Buffer.alloc(32, 7), {
      transactionsPerSlot: 0,
      skipEvery: 0,
      ...lastingPort(),
    });
    t.teardown(() => cluster.close());
    await cluster.control.stopListening();
    return { cluster, clock, world: await startOver(t, `${cluster.url},${cluster.wsUrl}`, clock, set) };
  }

  /** Starts a gateway whose port opens without a node. */
  async function startOver(t: Test, upstream: string, clock: ManualClock, set: readonly string[] = []) {
    return await startGatewayOver(t, upstream, clock, { set: [`upstreamPolicy.startTimeoutMs=${START_MS}`, ...set] });
  }

  /** Lets time pass, with turns for the sockets, until a condition holds. */
  const passUntil = (clock: ManualClock, condition: () => boolean | Promise<boolean>, description: string) =>
    waitFor(async () => {
      clock.advance(100);
      await sleep(2);
      return condition();
    }, description);

  const messagesOf = ({ logged }: GatewayHarness): readonly string[] =>
    logged.flatMap(({ fields, message }) => (fields.node === undefined ? [] : [`${fields.node} ${message}`]));

  async function addressOf(t: Test, server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  t.test('without a node the port opens after 3 s; what needs one says what is wrong, all else works', async (t) => {
    const { cluster, clock, world } = await startOverClosedPort(t);
    const { gateway, get, rpc } = world;
    t.equal(gateway.cluster, null);
    t.same(messagesOf(world), [`node-1 unavailable: connection refused (${cluster.url})`], 'one line');

    const health = await get('/health');
    t.equal(health.status, 503);
    t.same(health.json, {
      error: 'unhealthy',
      message: 'no node of the cluster was reached yet; node-1: connection refused',
    });
    for (const name of ['x-cluster', 'x-slot', 'x-slot-age']) t.equal(health.headers.get(name), null, name);

    const message =
      'no node of the cluster was reached yet; node-1: connection refused. Retry in a moment; /health shows when it is up';
    const unavailable = [
      ...['/slot', '/network', '/epoch', '/performance', '/priority-fee', balance, '/search?q=1', '/block/1'].map(
        (path) => get(path),
      ),
      get(balance, { headers: { 'x-min-slot': '5' } }),
      get(balance, { headers: { 'x-receipt-nonce': 'a'.repeat(16) } }),
      rpc({ method: 'getSlot' }),
    ];
    for (const answer of await Promise.all(unavailable)) {
      t.equal(answer.status, 503);
      t.same(answer.json, { error: 'upstream_unavailable', message });
      t.equal(answer.headers.get('retry-after'), '1');
      t.match(answer.headers.get('x-request-id'), /^[0-9a-f]{16}$/);
      t.match(answer.headers.get('x-ratelimit-remaining'), /^\d+$/);
      t.equal(answer.headers.get('access-control-allow-origin'), '*');
    }
    const checkDocumented = await createDocumentChecker(world);
    checkDocumented(t, '/health', health);
    checkDocumented(t, '/slot', await get('/slot'));
    checkDocumented(t, '/balance/{addr}', await get(balance));
    checkDocumented(t, '/rpc', await rpc({ method: 'getSlot' }), 'post');
    const { text: upgrade } = await exchange(gateway.url, [upgradeRequest()]);
    t.match(upgrade, /^HTTP\/1\.1 503 .*\r\n\r\n\{"error":"upstream_unavailable"/s, 'no stream either');
    t.match(await get('/slot', { method: 'HEAD' }), { status: 503, text: '' });

    t.equal((await get('/pubkey')).json.publicKey, gateway.publicKey);
    t.equal((await get('/explain', { method: 'POST', body: '{}' })).json.error, 'invalid_request', 'by itself');
    t.equal(JSON.parse((await get('/openapi.json')).text).openapi, '3.1.0');
    t.equal((await fetch(new URL('/verify', gateway.url))).status, 200);
    t.equal((await get('/slot', { method: 'OPTIONS' })).status, 204);
    t.equal((await get('/nowhere')).status, 404);
    t.equal((await get('/slot', { method: 'DELETE' })).status, 405);

    gateway.reload();
    await cluster.control.startListening();
    await passUntil(clock, () => gateway.cluster !== null, 'the cluster');
    await passUntil(clock, async () => (await get('/health')).status === 200, 'good health');
    t.equal(gateway.cluster, cluster.genesisHash);
    t.ok(world.logged.some(({ fields, message }) => message === 'connected' && fields.cluster === cluster.genesisHash));
    const answer = await get(balance);
    t.equal(answer.status, 200);
    const expected = { publicKeys: [gateway.publicKey], cluster: gateway.cluster, request: `GET /api/v1${balance}` };
    t.equal(verifyReceipt(answer.text, expected).slot, answer.json.slot);
    t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream`);
    t.teardown(() => socket.terminate());
    const frames: number[] = [];
    socket.on('message', (data) => frames.push(JSON.parse(String(data)).slot));
    await passUntil(clock, () => frames.length > 2, 'frames');
    await passUntil(clock, () => messagesOf(world).includes('node-1 available again'), 'its return');
    t.equal(messagesOf(world).filter((line) => line.includes('unavailable')).length, 1);
  });

  t.test('between the first contact and the first answers every request is refused', async (t) => {
    const { cluster, clock, world } = await startOverClosedPort(t);
    await cluster.control.startListening();
    const paths = ['/slot', '/epoch', '/performance', '/priority-fee', '/network', balance];
    const seen = new Set<string>();
    let hasStarted = false;
    await passUntil(
      clock,
      async () => {
        const answers = await Promise.all(paths.map((path) => world.get(path)));
        for (const { status, json } of answers)
          seen.add(status === 200 ? 'ok' : `${json.error}${hasStarted ? ' late' : ''}`);
        hasStarted ||= answers.some(({ status }) => status === 200);
        return answers.every(({ status }) => status === 200);
      },
      'the answers',
    );
    t.same([...seen].sort(), ['ok', 'upstream_unavailable']);
  });

  t.test('a node that accepts and never answers is named after its time limit', async (t) => {
    const held = createTcpServer(() => {});
    const address = await addressOf(t, held);
    const world = await startOver(t, `http://${address},ws://${address}`, new ManualClock(), [
      'upstreamPolicy.timeoutMs=2000',
    ]);
    t.same(messagesOf(world), [`node-1 unavailable: no answer within 2000 ms (http://${address})`]);
    t.equal(
      (await world.get('/health')).json.message,
      'no node of the cluster was reached yet; node-1: no answer within 2000 ms',
    );
  });

  t.test('a node that needs a key, or is none, is named with its status, and no secret is shown', async (t) => {
    const cases: readonly (readonly [status: number, body: string, problem: string])[] = [
      [401, '{"error":"Unauthorized"}', 'HTTP 401: check the key in its URL'],
      [403, '<html>', 'HTTP 403: check the key in its URL'],
      [404, 'no such page', 'HTTP 404: check the path of its URL'],
      [200, '<html>', 'the response is not JSON-RPC'],
      [429, '', 'too many requests (HTTP 429)'],
      [502, '', 'HTTP 502'],
      [200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32052,"message":"bad key k3y-0f"}}', 'error -32052: bad key …'],
    ];
    for (const [status, body, problem] of cases) {
      const address = await addressOf(
        t,
        createHttpServer((_, response) => response.writeHead(status).end(body)),
      );
      const url = `http://${address}/v2/k3y-0f?api-key=k3y-0f-th1s`;
      const world = await startOver(t, `${url},ws://${address}`, new ManualClock(), [
        'upstreamPolicy.startTimeoutMs=200',
      ]);
      await waitFor(() => messagesOf(world).length > 0, 'the line');
      t.same(messagesOf(world), [`node-1 unavailable: ${problem} (http://${address})`]);
      const { text } = await world.get('/health');
      t.match(text, `node-1: ${problem}`);
      t.notMatch(text + JSON.stringify(world.logged), /k3y-0f/);
    }
  });

  t.test('the only node is of another cluster: the start fails, and says so', async (t) => {
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, Buffer.alloc(32, 7), { transactionsPerSlot: 0 });
    t.teardown(() => cluster.close());
    const failed = await startGatewayOver(t, `${cluster.url},${cluster.wsUrl}`, clock, {
      set: [`cluster=${OTHER_GENESIS}`],
    }).catch((thrown) => thrown);
    t.ok(failed instanceof StartError);
    t.match(failed, {
      exitCode: 1,
      message: `no node is of the cluster; node-1: it is of another cluster: its genesis hash is ${cluster.genesisHash}, not ${OTHER_GENESIS}`,
    });
  });

  t.test('a node that turns out to be of another cluster later is named, and the gateway goes on trying', async (t) => {
    const { cluster, clock, world } = await startOverClosedPort(t, [`cluster=${OTHER_GENESIS}`]);
    await cluster.control.startListening();
    const message = async (): Promise<string> => (await world.get('/health')).json.message;
    await passUntil(clock, async () => (await message()).includes('another cluster'), 'the reason');
    t.match(await message(), `node-1: it is of another cluster: its genesis hash is ${cluster.genesisHash}, not`);
    const calls = async () => (await cluster.control.requestCounts())['getGenesisHash'] ?? 0;
    const before = await calls();
    await passUntil(clock, async () => (await calls()) > before + 2, 'more attempts');
    t.equal(world.gateway.cluster, null);
    t.equal(messagesOf(world).filter((line) => line.includes('another cluster')).length, 1, 'logged once');
  });

  t.test('a node without a WebSocket is polled; the log says where it was looked for, and what to do', async (t) => {
    const closed = createTcpServer();
    const wsAddress = await addressOf(t, closed);
    await new Promise((resolve) => closed.close(resolve));
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, Buffer.alloc(32, 7), { transactionsPerSlot: 0, skipEvery: 0 });
    t.teardown(() => cluster.close());
    const world = await startGatewayOver(t, `${cluster.url},ws://${wsAddress}/?api-key=s3cr3t`, clock);
    await passUntil(clock, () => world.logged.length > 0, 'the line');
    for (let n = 0; n < 100; n++) {
      clock.advance(100);
      await sleep(2);
    }
    t.same(messagesOf(world), [
      `node-1 the WebSocket failed: connection refused (ws://${wsAddress}): slots are polled; if the node has it at another address, name that too: --upstream URL,WEBSOCKET-URL`,
    ]);
    t.match((await world.get('/health')).json.result, {
      status: 'degraded',
      upstreams: [{ status: 'ok', ws: 'down' }],
    });
  });

  t.test('it closes immediately while it waits for a node', async (t) => {
    const { world } = await startOverClosedPort(t);
    await world.gateway.close();
    await t.rejects(world.get('/health'));
    t.equal(messagesOf(world).length, 1);
  });
});
