import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

const address = (rank: number): string => WALLETS[rank]?.address ?? '';

/** Advances the clock of gateway and cluster and lets pending work finish. */
async function pass({ clock }: SteppedHarness, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 400) {
    clock.advance(Math.min(400, left));
    await sleep(4);
  }
}

/** Advances time until health is ok. */
const recovers = (world: SteppedHarness): Promise<void> =>
  waitFor(async () => {
    await pass(world, 400);
    return (await status(world)) === 'ok';
  }, 'good health');

const status = async ({ get }: SteppedHarness): Promise<string> => {
  const { json } = await get('/health');
  return json.result?.status ?? json.error;
};

t.test('an answer is a miss, then a hit, then refreshed; what is requested continuously is always a hit', async (t) => {
  const world = await startStepped(t, { set: ['watch.accounts=0'] }); // a live account is always a hit
  const { get, step, cluster } = world;
  const balance = `/balance/${address(0)}`;
  const first = await get(balance);
  t.equal(first.headers.get('x-cache'), 'MISS');
  t.match(first.headers.get('server-timing'), /^upstream;dur=\d+\.\d$/);
  t.equal(first.headers.get('x-slot'), String(first.json.slot));
  t.equal(first.headers.get('cache-control'), 'no-cache');
  const second = await get(balance);
  t.equal(second.headers.get('x-cache'), 'HIT');
  t.equal(second.headers.get('server-timing'), null);
  t.equal(second.text, first.text, 'the same bytes, the same receipt');
  await step(4);
  const third = await get(balance);
  t.equal(third.headers.get('x-cache'), 'MISS');
  t.ok(cluster.chain.slot('confirmed') - third.json.slot <= 1);
  for (let i = 0; i < 6; i++) {
    const { headers, json } = await get(balance);
    t.equal(headers.get('x-cache'), 'HIT', 'read ahead of its reader');
    t.ok(cluster.chain.slot('confirmed') - json.slot <= 3);
    await step();
    await sleep(20); // the refresh is in flight
  }
  for (const path of ['/health', '/pubkey']) t.equal((await get(path)).headers.get('x-cache'), 'BYPASS');
  for (const path of ['/slot', '/network', '/epoch']) t.equal((await get(path)).headers.get('x-cache'), 'HIT');
});

t.test('a thousand callers of one uncached key cost one upstream call', async (t) => {
  const { get, rpc, cluster, clock } = await startStepped(t, { perSlot: 0 });
  await cluster.control.delayResponses(1);
  const calls = async (method: string) => (await cluster.control.requestCounts())[method] ?? 0;
  const ask = async (method: string, call: () => Promise<{ status: number; text: string }>) => {
    const before = await calls(method);
    let answered = false;
    const asking = Promise.all(Array.from({ length: 1000 }, call)).finally(() => {
      answered = true;
    });
    for (await sleep(300); !answered; await sleep(20)) clock.advance(1); // most requests arrive before the node answers
    const answers = await asking;
    // who comes once the answer is there may get a receipt of its own
    t.equal(new Set(answers.map(({ text }) => text.replace(/"receipt":.*/, ''))).size, 1, `${answers[0]?.text}`);
    t.ok(answers.every(({ status }) => status === 200));
    t.equal((await calls(method)) - before, 1, method);
  };
  await ask('getMultipleAccounts', () => get(`/balance/${address(3)}`));
  await ask('getTokenSupply', () =>
    rpc({ method: 'getTokenSupply', params: [cluster.setup.lookupTable.entries.at(-1)] }),
  );
});

t.test('when reads fail, old answers are served as stale until they are too old', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { get, cluster, clock, logged, step } = world;
  const target = `/balance/${address(1)}`;
  const { json: known } = await get(target);
  t.equal(await status(world), 'ok');

  await cluster.control.rateLimit(1_000_000, 1);
  await step(4);
  await waitFor(async () => (await status(world)) === 'degraded', 'degraded health');
  await step(); // the frame of the next slot has it
  t.ok(logged.some(({ level, message }) => level === 'warn' && /a read failed/.test(message)));
  const stale = await get(target);
  t.equal(stale.status, 200);
  t.equal(stale.headers.get('x-cache'), 'STALE');
  t.equal(stale.headers.get('server-timing'), null);
  t.equal(stale.json.slot, known.slot, 'its slot is the old one');
  t.same(stale.json.result, known.result);
  t.equal((await get('/slot')).json.result, cluster.chain.slot('processed'), 'slots go on by WebSocket');
  t.equal((await get('/network')).json.result.health, 'degraded');
  t.equal((await get('/epoch')).status, 200);
  const cold = await get(`/balance/${address(2)}`);
  t.equal(cold.status, 503);
  t.equal(cold.json.error, 'upstream_unavailable');
  t.equal(cold.headers.get('retry-after'), '1');

  const provenMs = clock.now();
  await step(140, 4);
  t.equal((await get(target)).headers.get('x-cache'), 'STALE', `${clock.now() - provenMs} ms later`);
  await step(16, 4);
  for (const path of [target, '/epoch', '/performance']) {
    const tooOld = await get(path);
    t.equal(tooOld.status, 503, path);
    t.equal(tooOld.json.error, 'stale');
    t.equal(tooOld.headers.get('retry-after'), '1');
    t.equal(tooOld.headers.get('x-cache'), null);
  }
  t.equal((await get('/slot')).status, 200);

  await cluster.control.rateLimit(0);
  await recovers(world);
  const isFresh = async (): Promise<boolean> => {
    await step(); // the node had rate-limited the gateway
    return /MISS|HIT/.test((await get(target)).headers.get('x-cache') ?? '');
  };
  await waitFor(isFresh, 'a fresh answer'); // a hit if it was refreshed in the background meanwhile
  t.equal((await get('/epoch')).status, 200);
});

t.test('without new slots health is degraded, then down; nothing is served as fresh meanwhile', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { get, cluster } = world;
  const target = `/epoch?commitment=processed`;
  await get(target);
  const slot = (await get('/slot')).json.result;
  await cluster.control.pauseSlots();
  await pass(world, 3200);
  t.equal(await status(world), 'degraded');
  const stale = await get('/slot');
  t.equal(stale.headers.get('x-cache'), 'STALE');
  t.equal(stale.json.result, slot);
  t.equal((await get('/network')).headers.get('x-cache'), 'STALE');

  await pass(world, 58_000);
  const down = await get('/health');
  t.equal(down.status, 503);
  t.equal(down.json.error, 'unhealthy');
  t.equal(down.headers.get('retry-after'), '1');
  for (const path of ['/slot', '/network', '/performance']) t.equal((await get(path)).json.error, 'stale', path);
  t.equal((await get(target)).headers.get('x-cache'), 'MISS', 'what can be asked for is asked for');

  await cluster.control.resumeSlots();
  await recovers(world);
  t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
  t.ok((await get('/slot')).json.result > slot);
});

t.test('a stream frame reports degraded health when no new slot arrives', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const before = (await world.get('/network')).json.result;
  await world.cluster.control.pauseSlots();
  await pass(world, 5600);
  const { json } = await world.get('/network');
  t.equal(json.result.health, 'degraded');
  t.equal(json.slot, before.slot);
  t.ok(json.result.seq > before.seq);
});

t.test('whatever the node does, no answer to the same request ever has an older slot', async (t) => {
  const world = await startStepped(t, { perSlot: 1, skipEvery: 7 });
  const { get, cluster } = world;
  const targets = ['processed', 'confirmed', 'finalized'].flatMap((commitment) => [
    `/balance/${address(0)}?commitment=${commitment}`,
    `/account/${address(0)}?commitment=${commitment}`,
    `/epoch?commitment=${commitment}`,
  ]);
  targets.push('/slot', '/network', '/epoch', '/performance', '/priority-fee');
  const newest = new Map<string, number>();
  const read = async (target: string): Promise<void> => {
    const { status, json } = await get(target);
    if (status !== 200) return;
    const before = newest.get(target) ?? 0;
    if (json.slot < before) throw new Error(`${target} went from ${before} back to ${json.slot}`);
    newest.set(target, json.slot);
  };
  const { control } = cluster;
  const deed = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((slots) => () => pass(world, slots * 400)) },
    { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }).map((slots) => () => control.skewSlots(slots)) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((slots) => () => control.lagBehind(slots)) },
    { weight: 1, arbitrary: fc.constant(() => control.fork()) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }).map((calls) => () => control.failMinContextSlot(calls)) },
    { weight: 6, arbitrary: fc.subarray(targets, { minLength: 1 }).map((some) => () => Promise.all(some.map(read))) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 30 }), async (deeds) => {
      for (const work of deeds) await work();
    }),
    { numRuns: 12, endOnFailure: true },
  );
  t.ok(newest.size === targets.length, 'all were answered at some time');
});
