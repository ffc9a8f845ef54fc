import { once } from 'node:events';
import { Unpackr } from 'msgpackr';
import t from 'tap';
import { WebSocket } from 'ws';
import { createClient } from '../../src/client/client.ts';
import { parseExactJson } from '../../src/domain/parse-exact-json.ts';
import { startDigitProxy } from '../support/digit-proxy.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

const COUNT = 18_446_744_073_709_551_615n; // 2^64 - 1
const NON_VOTES = 9_007_199_254_740_993n; // 2^53 + 1, which no double holds
const LARGE = {
  transactionCount: `${COUNT}`,
  numTransactions: `${COUNT}`,
  numNonVoteTransactions: `${NON_VOTES}`,
  prioritizationFee: `${NON_VOTES}`,
  fee: `${COUNT}`,
};

const world: SteppedHarness = await startStepped(t, { proxyUrl: (url) => startDigitProxy(t, url, LARGE) });
const { get, rpc, gateway, step } = world;

const resultOf = async (path: string): Promise<any> => {
  const { status, text } = await get(path);
  t.equal(status, 200, path);
  return (parseExactJson(text) as any).result;
};

/** Opens a stream; returns its next frame. */
async function frameOf(query: string): Promise<Buffer> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream${query}`);
  t.teardown(() => socket.terminate());
  const [data] = await once(socket, 'message');
  return data;
}

t.test('a gateway over a node with counts beyond 2^53 starts, is healthy, and serves every digit', async (t) => {
  t.equal((await get('/health')).json.result.status, 'ok');
  t.equal((await resultOf('/epoch')).transactionCount, COUNT);
  for (const commitment of ['processed', 'confirmed', 'finalized'])
    t.equal((await resultOf(`/epoch?commitment=${commitment}`)).transactionCount, COUNT);
  t.equal((await resultOf('/network')).transactionCount, COUNT);
  await step(200, 20); // a sample a minute
  await waitFor(async () => (await resultOf('/performance')).length > 0, 'a sample');
  const [sample] = await resultOf('/performance');
  t.match(sample, { numTransactions: COUNT, numNonVoteTransactions: NON_VOTES });
  t.equal(Number(sample.tps), Number((Number(COUNT) / sample.samplePeriodSecs).toFixed(1)), 'a rate is a double');
  t.equal((await resultOf('/priority-fee')).priorityFeeLevels.unsafeMax, NON_VOTES);
  t.notOk(world.logged.some(({ message }) => message.startsWith('a read failed')));
});

t.test('a block with such fees sums them', async (t) => {
  const { cluster } = world;
  await step(2);
  const newest = cluster.chain.slot('confirmed');
  const blocks = await Promise.all([0, 1, 2, 3, 4].map((back) => resultOf(`/block/${newest - back}`)));
  const { transactions } = blocks.find(({ transactions }) => transactions.count > 0); // some blocks are empty
  t.equal(transactions.feesLamports, COUNT * BigInt(transactions.count));
});

t.test('/rpc passes them on, from its cache too', async (t) => {
  await get('/epoch');
  const call = { method: 'getEpochInfo', params: [{ commitment: 'confirmed' }] };
  const first = await rpc(call);
  t.equal((parseExactJson(first.text) as any).result.transactionCount, COUNT);
  t.equal(first.headers.get('x-cache'), 'HIT');
  t.same(Object.keys(first.json.result), [
    'absoluteSlot',
    'blockHeight',
    'epoch',
    'slotIndex',
    'slotsInEpoch',
    'transactionCount',
  ]);
  const samples = await rpc({ method: 'getRecentPerformanceSamples', params: [1] });
  t.equal((parseExactJson(samples.text) as any).result[0].numTransactions, COUNT);
});

t.test('frames of the stream have every digit, also as MessagePack', async (t) => {
  const json = parseExactJson((await frameOf('')).toString()) as any;
  t.equal(json.result.transactionCount, COUNT);
  const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
  t.equal(unpackr.unpack(await frameOf('?format=msgpack')).result.transactionCount, COUNT);
});

t.test('the SDK reads them as bigint', async (t) => {
  const { publicKey, cluster } = gateway;
  const client = createClient({ url: gateway.url, publicKey, cluster, maxAgeMs: Number.POSITIVE_INFINITY });
  t.equal((await client.get('/epoch')).result.transactionCount, COUNT);
  t.equal((await client.get('/network')).result.transactionCount, COUNT);
});
