import bs58 from 'bs58';
import t from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGateway, waitFor } from '../support/harness.ts';

// The machine's own clock: what counts here is how long a recovery takes for those who wait for it.
const state = t.testdir();
const { url, wsUrl, control, close } = await startEmbeddedCluster({ state, slotMs: 100, transactionsPerSlot: 1 });
t.teardown(close);
const { get, rpc, logged } = await startGateway(t, [`${url},${wsUrl}`], {
  state,
  set: ['upstream.silenceMs=1000', 'upstream.timeoutMs=500'],
});

const health = async (): Promise<any> => {
  const { status, json } = await get('/health');
  return status === 200 ? json.result : { status: json.error, upstreams: [] };
};
const isOk = async (): Promise<boolean> => (await health()).status === 'ok';
const slot = async (): Promise<number> => (await health()).slot;
let cold = 0;
/** Of an account that nobody asked for yet. */
const coldBalance = () => get(`/balance/${bs58.encode(Buffer.alloc(32, ++cold))}`);

/** Does harm, waits until health tells of it, undoes it, and measures how long it takes until slots go on. */
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

t.test('while the WebSocket is silent, slots are asked for over HTTP', async (t) => {
  await control.silenceWebSockets(true);
  await waitFor(async () => (await health()).upstreams[0]?.ws === 'down', 'the loss');
  const before = await slot();
  await waitFor(async () => (await slot()) > before + 5, 'slots all the same');
  t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
  await control.silenceWebSockets(false);
  await waitFor(isOk, 'good health');
});

t.test('a node that wants a pause gets it, and callers are told how long', async (t) => {
  await control.rateLimit(1_000_000, 1); // more than the gateway asks of its own accord meanwhile
  const refused = await rpc({ method: 'getHealth' });
  await control.rateLimit(0);
  t.equal(refused.status, 503);
  t.equal(refused.json.error, 'upstream_unavailable');
  t.equal(refused.headers.get('retry-after'), '1');
  await waitFor(async () => (await coldBalance()).status === 200, 'an answer after the pause');
  await waitFor(isOk, 'good health');
});

t.test('a node that is not there yet: 503 with its number and Retry-After', async (t) => {
  await control.failMinContextSlot(1);
  const got = await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] });
  t.equal(got.status, 503);
  t.equal(got.json.error, 'rpc_error');
  t.equal(got.headers.get('x-rpc-error-code'), '-32016');
  t.equal(got.headers.get('retry-after'), '1');
  t.equal((await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] })).status, 200, 'not remembered');
});

t.test('a node that answers too late: 504, and nobody waits longer', async (t) => {
  await control.delayResponses(1200);
  const start = performance.now();
  const got = await coldBalance();
  t.equal(got.status, 504);
  t.equal(got.json.error, 'upstream_timeout');
  t.ok(performance.now() - start < 1100);
  await control.delayResponses(0);
  await waitFor(isOk, 'good health');
});

t.test('a node that can not be reached: 503 for what is not known', async (t) => {
  await control.stopListening();
  const got = await coldBalance();
  t.equal(got.status, 503);
  t.equal(got.json.error, 'upstream_unavailable');
  t.notMatch(got.text, /127\.0\.0\.1|ECONN/);
  t.equal((await get('/epoch')).status, 200);
  await control.startListening();
  await waitFor(isOk, 'good health');
  t.notMatch(JSON.stringify(logged), new URL(url).port, 'the log names no address');
});
