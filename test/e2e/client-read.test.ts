import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';
import type { Path } from '../../src/client/route-types.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { toJson } from '../../src/domain/to-json.ts';
import { WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { routes } from '../../src/routes/index.ts';
import { startStepped } from '../support/harness.ts';

const world = await startStepped(t);
const { gateway, cluster, clock, get, step } = world;
await step(4);
const [WALLET = ''] = WALLETS.map(({ address }) => address);

const open = (options: Partial<ClientOptions> = {}): Client =>
  createClient({
    url: gateway.url,
    publicKey: gateway.publicKey,
    cluster: cluster.genesisHash,
    clock,
    attempts: 1,
    ...options,
  });

/** Creates a client whose answers are tampered with on the way. */
const through = (meddle: (body: string) => string, options: Partial<ClientOptions> = {}): Client =>
  open({
    ...options,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      return new Response(meddle(await response.text()), { status: response.status, headers: response.headers });
    },
  });

/** Returns a clock that is wrong by some milliseconds. */
const shifted = (ms: number): Clock => ({
  now: () => clock.now() + ms,
  monotonic: () => clock.monotonic(),
  after: (delay, work) => clock.after(delay, work),
});

/** Asserts that a read fails with a receipt fault. */
const notProven = (t: Test, reading: Promise<unknown>, code: string) =>
  t.rejects(reading, { name: 'ReceiptError', code });

t.test('the client reads every GET route, typed by its declaration', async (t) => {
  const client = open();
  const mint = (await client.get('/token-accounts/:owner', { owner: WALLET })).result[0]?.mint ?? '';
  const { rows } = (await client.get('/address/:addr/history', { addr: WALLET, limit: 5 })).result;
  const { signature: sig = '', slot } = rows[0] ?? {};
  const params: Readonly<Record<string, string | number | readonly string[]>> = {
    addr: WALLET,
    addresses: [WALLET, WHALE.address],
    owner: WALLET,
    mint,
    sig,
    slot: slot ?? 0,
    q: WALLET,
  };
  for (const { path, kind, envelope, ...route } of routes) {
    if (kind === 'post') continue;
    const names = 'params' in route ? Object.entries(route.params).filter(([, { required }]) => required) : [];
    const wanted = Object.fromEntries(names.map(([name]) => [name, params[name]]));
    // The loop runs over the route declarations, whose types the compiler can't follow one by one.
    const answer = await (client.get as (path: Path, params: object) => Promise<object>)(path, wanted);
    t.same(
      Object.keys(answer).filter((name) => ['slot', 'receipt', 'body'].includes(name)),
      { signed: ['slot', 'receipt', 'body'], anchored: ['slot'], bare: [], plain: [] }[envelope],
      path,
    );
    t.hasProp(answer, 'result', path);
  }
});

t.test('a result equals the signed text, to the last digit', async (t) => {
  const { result, slot, body, receipt, unchanged } = await open().get('/balance/:addr', { addr: WHALE.address });
  t.same(result, { lamports: 9007199254740993n, sol: '9007199.254740993' });
  t.equal(receipt.slot, slot);
  t.equal(unchanged, false);
  t.equal(body, (await get(`/balance/${WHALE.address}`)).text);
  const { result: epoch } = await open().get('/epoch', { commitment: 'finalized' });
  t.type(epoch.absoluteSlot, 'number');
});

t.test('a changed digit, another request, key, cluster or time fails verification', async (t) => {
  const balance = (client: Client) => client.get('/balance/:addr', { addr: WHALE.address });
  await notProven(t, balance(through((body) => body.replace('"lamports":9', '"lamports":8'))), 'digest');
  await notProven(t, balance(through((body) => body.replace(/,"receipt":.*/, '}'))), 'malformed');
  await notProven(t, balance(through((body) => body.replace('"observed/1"', '"exact/1"'))), 'signature');
  await notProven(t, balance(open({ cluster: gateway.publicKey })), 'cluster');
  await notProven(t, balance(open({ publicKey: cluster.genesisHash })), 'unknown-key');
  const { text } = await get(`/balance/${WALLET}`);
  await notProven(t, balance(through(() => text)), 'request');
  await notProven(t, balance(open({ clock: shifted(80_001) })), 'stale');
  await notProven(t, balance(open({ clock: shifted(-25_001) })), 'future');
  await t.resolves(balance(open({ clock: shifted(80_001), maxAgeMs: 200_000 })));
});

t.test('without verification the client returns the same value', async (t) => {
  const client = through((body) => body.replace('"lamports":9', '"lamports":8'), { verify: false });
  const { result } = await client.get('/balance/:addr', { addr: WHALE.address });
  t.equal(result.lamports, 8007199254740993); // below 2^53 by now
  t.equal(typeof result.lamports, 'number');
});

t.test('a read can request a later slot', async (t) => {
  const tip = cluster.chain.slot('confirmed');
  const { slot } = await open().get('/balance/:addr', { addr: WALLET }, { minSlot: tip });
  t.ok(slot >= tip);
  const far = open().get('/balance/:addr', { addr: WALLET }, { minSlot: tip + 100_000 });
  await t.rejects(far, { name: 'SlotgateError', code: 'min_slot_not_reached', status: 503, retryAfterMs: 1000 });
});

t.test('a refusal of the gateway has its error code', async (t) => {
  const client = open();
  await t.rejects(client.get('/balance/:addr', { addr: 'nobody' }), { code: 'invalid_address', status: 400 });
  await t.rejects(client.get('/balance/:addr', { addr: '..' }), TypeError);
  await t.rejects(client.post('/rpc', { method: 'sendTransaction' as 'getSlot' }), { code: 'rpc_method_not_allowed' });
  const refused = client.post('/rpc', { method: 'getBalance', params: ['nobody'] });
  await t.rejects(refused, { code: 'rpc_error', status: 400, rpcCode: -32602, requestId: /^[0-9a-f]{16}$/ });
});

t.test('a request too long for a URL is posted', async (t) => {
  const client = open();
  const far = client.post('/rpc', { method: 'getVersion' }, { minSlot: cluster.chain.slot('processed') + 1_000 });
  await t.rejects(far, { code: 'min_slot_not_reached', status: 503, retryAfterMs: 1000 });
  const { result: slot } = await client.post('/rpc', { method: 'getSlot' });
  t.type(slot, 'number');
  const { result: account } = await client.post('/rpc', { method: 'getBalance', params: [WHALE.address] });
  t.match(account, { value: 9007199254740993n });
  const { rows } = (await client.get('/address/:addr/history', { addr: WALLET, limit: 1 })).result;
  const { result: tx } = await client.get('/tx/:sig', { sig: rows[0]?.signature ?? '', enhanced: '1' });
  const { result: told } = await client.post('/explain', { tx });
  t.match(told.explanation, /\w/, toJson(told));
});

t.test('the receipt of a finalized block may have any age', async (t) => {
  const slot = cluster.chain.slot('finalized');
  const client = open({ clock: shifted(86_400_000) });
  await notProven(t, client.get('/slot'), 'stale');
  const { result } = await client.get('/block/:slot', { slot, commitment: 'finalized' });
  t.equal(result.commitment, 'finalized');
});

t.test('a nonce of the caller is signed, a new one each time', async (t) => {
  const client = open();
  const read = () => client.get('/balance/:addr', { addr: WALLET }, { nonce: true });
  const [first, second] = [await read(), await read()];
  t.match(first.receipt.nonce, /^[\w-]{22}$/);
  t.not(first.receipt.nonce, second.receipt.nonce);
});

t.test('an unchanged answer transfers only its receipt', async (t) => {
  const lengths: number[] = [];
  const client = open({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      lengths.push((await response.clone().arrayBuffer()).byteLength);
      return response;
    },
  });
  const params = { addr: WHALE.address };
  const since = await client.get('/account/:addr', params);
  await step(3);
  const later = await client.get('/account/:addr', params, { since, minSlot: since.slot + 1 });
  t.ok(later.unchanged && later.slot > since.slot);
  t.same(later.result, since.result);
  t.equal(lengths[1], 0);
  t.equal(later.body, (await get(`/account/${WHALE.address}`)).text, 'complete as if it had arrived');
  const again = await client.get('/account/:addr', params, { since: later });
  t.ok(again.unchanged && again.slot >= later.slot);
});

t.test('credentials go to no origin that a redirect names', async (t) => {
  const received: string[] = [];
  const other = createServer((request, response) => {
    received.push(String(request.headers['x-api-key']));
    response.end('{}');
  });
  const moved = createServer((_, response) => {
    const { port } = other.address() as AddressInfo; // it listens on TCP
    response.writeHead(307, { location: `http://localhost:${port}/api/v1/slot` }).end();
  });
  for (const server of [other, moved]) await new Promise<void>((resolve) => server.listen(0, resolve));
  t.teardown(() => {
    for (const server of [other, moved]) server.close();
  });
  const { port } = moved.address() as AddressInfo; // it listens on TCP
  const client = open({ url: `http://127.0.0.1:${port}`, headers: { 'x-api-key': 'sg_live_secret' }, attempts: 3 });
  await t.rejects(client.get('/slot'), { code: 'unreadable', status: 307, message: /redirects.*use the final URL/ });
  t.same(received, []);
});
