import bs58 from 'bs58';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../support/harness.ts';

// The system clock, since the time of recovery for waiting callers is measured.
const { url, wsUrl, control, close } = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 1 });
t.teardown(close);
const { get, rpc, logged } = await startGateway(t, [`${url},${wsUrl}`], {
  set: ['upstream.silenceMs=1000', 'upstream.timeoutMs=500'],
});

const health = async (): Promise<any> => {
  const { status, json } = await get('/health');
  return status === 200 ? json.result : { status: json.error, upstreams: [] };
};
const isOk = async (): Promise<boolean> => (await health()).status === 'ok';
const slot = async (): Promise<number> => (await health()).slot;
let cold = 0;
/** Requests the balance of an uncached account. */
const coldBalance = () => get(`/balance/${bs58.encode(Buffer.alloc(32, ++cold))}`);

/** Breaks the connection, waits until health reports it, restores it, and measures the time until slots go on. */
const faults: readonly [name: string, harm: () => Promise<void>, heal: () => Promise<void>][] = [
  ['cut', () => control.dropWebSockets(), async () => {}],
  ['closed politely', () => control.closeWebSockets(), async () => {}],
  ['silenced', () => control.silenceWebSockets(true), () => control.silenceWebSockets(false)],
  ['gone with its node', () => control.stopListening(), () => control.startListening()],
];

for (const [name, harm, heal] of faults) {
  t.test(`a WebSocket that is ${name}: health says so, and slots go on within 3 s of its return`, async (t) => {
    await waitFor(isOk, 'good health');
    const seen: any[] = [];
    await harm();
    await waitFor(async () => {
      seen.push(await health());
      return seen.at(-1).status !== 'ok';
    }, 'bad health');
    t.equal(seen.at(-1).status, 'degraded');
    await heal();
    const start = performance.now();
    await waitFor(isOk, 'good health again');
    const before = await slot();
    await waitFor(async () => (await slot()) > before, 'a slot');
    const tookMs = performance.now() - start;
    t.ok(tookMs < 3000, `${Math.round(tookMs)} ms`);
    t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
  });
}

t.test('while the WebSocket is silent, slots are polled over HTTP', async (t) => {
  await control.silenceWebSockets(true);
  await waitFor(async () => (await health()).upstreams[0]?.ws === 'down', 'the loss');
  const before = await slot();
  await waitFor(async () => (await slot()) > before + 5, 'slots all the same');
  t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
  await control.silenceWebSockets(false);
  await waitFor(isOk, 'good health');
});

t.test('a rate-limiting node is left alone, and callers are told how long', async (t) => {
  await control.rateLimit(1_000_000, 1); // more requests than the gateway sends meanwhile
  const refused = await rpc({ method: 'getHealth' });
  await control.rateLimit(0);
  t.equal(refused.status, 503);
  t.equal(refused.json.error, 'upstream_unavailable');
  t.equal(refused.headers.get('retry-after'), '1');
  await waitFor(async () => (await coldBalance()).status === 200, 'an answer after the pause');
  await waitFor(isOk, 'good health');
});

t.test('a node that has not reached the slot: 503 with its code and Retry-After', async (t) => {
  await control.failMinContextSlot(1);
  const got = await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] });
  t.equal(got.status, 503);
  t.equal(got.json.error, 'rpc_error');
  t.equal(got.headers.get('x-rpc-error-code'), '-32016');
  t.equal(got.headers.get('retry-after'), '1');
  t.equal((await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] })).status, 200, 'not remembered');
});

t.test('a node that answers too late: 504, and no caller waits longer', async (t) => {
  await control.delayResponses(1200);
  const start = performance.now();
  const got = await coldBalance();
  t.equal(got.status, 504);
  t.equal(got.json.error, 'upstream_timeout');
  t.ok(performance.now() - start < 1100);
  await control.delayResponses(0);
  await waitFor(isOk, 'good health');
});

t.test('an unreachable node: 503 for what is not cached', async (t) => {
  await control.stopListening();
  const got = await coldBalance();
  t.equal(got.status, 503);
  t.equal(got.json.error, 'upstream_unavailable');
  t.notMatch(got.text, /127\.0\.0\.1|ECONN/);
  t.equal((await get('/epoch')).status, 200);
  await control.startListening();
  await waitFor(isOk, 'good health');
  t.match(
    logged.find(({ message }) => message.startsWith('the WebSocket')),
    { level: 'warn', fields: { node: 'node-1' }, message: `the WebSocket was closed with code 1006 (${wsUrl})` },
  );
});
