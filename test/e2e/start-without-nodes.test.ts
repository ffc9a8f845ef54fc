import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { StartError } from '../../src/domain/start-error.ts';
import { createGenesis } from '../../src/localnet/cluster-genesis.ts';
import { type InThreadCluster, startInThreadCluster } from '../../src/localnet/in-thread-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { createDocumentChecker } from '../support/assert-documented.ts';
import { type GatewayHarness, startGatewayOver, waitFor } from '../support/harness.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { exchange } from '../support/raw-http.ts';
import { setupStore } from '../support/setup-store.ts';
import { upgradeRequest } from '../support/websocket-peer.ts';

const START_MS = 3000;
const OTHER_GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
const balance = `/balance/${WALLETS[0].address}`;

/** Starts a cluster that does not listen, and a gateway over it. */
async function startOverClosedPort(
  t: Test,
  set: readonly string[] = [],
): Promise<{ readonly cluster: InThreadCluster; readonly clock: ManualClock; readonly world: GatewayHarness }> {
  const clock = new ManualClock();
  const genesis = createGenesis(Buffer.alloc(32, 7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore);
  t.teardown(() => cluster.close());
  await cluster.control.stopListening();
  return { cluster, clock, world: await startOver(t, `${cluster.url},${cluster.wsUrl}`, clock, set) };
}

/** Starts a gateway whose port opens without a node. */
async function startOver(t: Test, upstream: string, clock: ManualClock, set: readonly string[] = []) {
  return await startGatewayOver(t, upstream, clock, { set: [`upstream.startMs=${START_MS}`, ...set] });
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

t.test('without a node the port opens after 3 s; what needs no node works, all else says what is wrong', async (t) => {
  const { cluster, clock, world } = await startOverClosedPort(t);
  const { gateway, get, rpc } = world;
  t.equal(gateway.cluster, null);
  t.same(
    messagesOf(world),
    [`node-1 unavailable: connection refused (${cluster.url})`],
    'one line, however often tried',
  );

  const health = await get('/health');
  t.equal(health.status, 503);
  t.same(health.json, {
    error: 'unhealthy',
    message: 'no node of the cluster was reached yet; node-1: connection refused',
  });

  const message =
    'no node of the cluster was reached yet; node-1: connection refused. Retry in a moment; /health tells when it is up';
  const unavailable = [
    ...['/slot', '/network', '/epoch', '/performance', '/priority-fee', balance, '/search?q=1', '/block/1'].map(
      (path) => get(path),
    ),
    get(balance, { headers: { 'x-min-slot': '5' } }),
    get(balance, { headers: { 'x-receipt-nonce': 'a'.repeat(16) } }),
    rpc({ method: 'getSlot' }),
    get('/explain', { method: 'POST', body: '{}' }),
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
  t.equal((await get('/openapi.json')).json.openapi, '3.1.0');
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

t.test('between the first contact and the first answers all are told that no answer is there', async (t) => {
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
  const held = createServer(() => {});
  const address = await addressOf(t, held);
  const world = await startOver(t, `http://${address},ws://${address}`, new ManualClock(), ['upstream.timeoutMs=2000']);
  t.same(messagesOf(world), [`node-1 unavailable: no answer within 2000 ms (http://${address})`]);
  t.equal(
    (await world.get('/health')).json.message,
    'no node of the cluster was reached yet; node-1: no answer within 2000 ms',
  );
});

t.test('a node that asks for a key, or is none, is named with its status, and no secret is shown', async (t) => {
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
    const world = await startOver(t, `${url},ws://${address}`, new ManualClock(), ['upstream.startMs=200']);
    await waitFor(() => messagesOf(world).length > 0, 'the line');
    t.same(messagesOf(world), [`node-1 unavailable: ${problem} (http://${address})`]);
    const { text } = await world.get('/health');
    t.match(text, `node-1: ${problem}`);
    t.notMatch(text + JSON.stringify(world.logged), /k3y-0f/);
  }
});

t.test('the only node is of another cluster: the start fails, and says so', async (t) => {
  const clock = new ManualClock();
  const genesis = createGenesis(Buffer.alloc(32, 7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0 }, setupStore);
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
  t.equal(messagesOf(world).filter((line) => line.includes('another cluster')).length, 1, 'told once');
});

t.test(
  'a node without a WebSocket is served by polling; the log says where it was looked for, and what to do',
  async (t) => {
    const closed = createServer();
    const wsAddress = await addressOf(t, closed);
    await new Promise((resolve) => closed.close(resolve));
    const clock = new ManualClock();
    const genesis = createGenesis(Buffer.alloc(32, 7), clock.now());
    const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore);
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
  },
);

t.test('it closes at once while it waits for a node', async (t) => {
  const { world } = await startOverClosedPort(t);
  await world.gateway.close();
  await t.rejects(world.get('/health'));
  t.equal(messagesOf(world).length, 1);
});
