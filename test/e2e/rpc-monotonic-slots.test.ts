import { setTimeout as sleep } from 'node:timers/promises';
import { address } from '@solana/web3.js';
import fc from 'fast-check';
import t from 'tap';
import { SYSTEM_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { member } from '../../src/upstream/json/raw-json.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';

const wallet = (rank: number): string => WALLETS[rank]?.address ?? '';

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * Records the node's current answers to these calls. The returned function makes it repeat them, as a node without new
 * slots.
 */
async function remember({ cluster, node }: SteppedHarness, calls: readonly Call[]): Promise<() => void> {
  const recorded = new Map<string, string>();
  for (const { method, params } of calls) {
    const response = await fetch(cluster.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    recorded.set(method, `${member(Buffer.from(await response.arrayBuffer()), 'result')}`);
  }
  return () => {
    for (const [method, result] of recorded) node.overrides.set(method, () => ({ result }));
  };
}

/** Advances time without slots. */
async function stand({ clock }: SteppedHarness, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 400) {
    clock.advance(400);
    await sleep(4);
  }
}

const slotOf = (got: HttpAnswer): number => Number(got.headers.get('x-slot'));
const sourceOf = (got: HttpAnswer): string | null => got.headers.get('x-cache');

t.test('getSlot does not go back when slots stop and the node falls back', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { rpc, step, cluster, get } = world;
  await step(12);
  const calls = ['processed', 'confirmed', 'finalized'].map((commitment) => ({
    method: 'getSlot',
    params: [{ commitment }],
  }));
  const before = await Promise.all(calls.map((call) => rpc(call)));
  await cluster.control.pauseSlots();
  await cluster.control.skewSlots(-11);
  await stand(world, 4000);
  for (const [i, call] of calls.entries()) {
    const got = await rpc(call);
    t.equal(sourceOf(got), 'STALE');
    t.equal(got.text, before[i]?.text);
  }
  t.equal((await rpc({ method: 'getSlot' })).text, before[2]?.text, 'however it is asked');
  await stand(world, 60_000);
  t.equal((await get('/slot')).json.error, 'stale');
  for (const call of calls) t.equal((await rpc(call)).json.error, 'stale', 'not for ever');
});

t.test('an answer of a node that fell back is not returned: the last one is, then none', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { rpc, step, cluster } = world;
  const at = (commitment: string) => ({ commitment });
  const mint = cluster.setup.lookupTable.entries.at(-1);
  const calls: readonly Call[] = [
    { method: 'getBalance', params: [wallet(1), at('confirmed')] },
    { method: 'getAccountInfo', params: [wallet(1), { ...at('confirmed'), encoding: 'base58' }] },
    { method: 'getMultipleAccounts', params: [[wallet(1)], at('finalized')] },
    { method: 'getEpochInfo', params: [at('finalized')] },
    { method: 'getBlockHeight', params: [at('finalized')] },
    { method: 'getLatestBlockhash', params: [] },
    { method: 'getTokenSupply', params: [mint, at('confirmed')] },
  ];
  await step(40, 4);
  const fallBack = await remember(world, calls);
  await step(4);
  const before = await Promise.all(calls.map((call) => rpc(call)));
  for (const got of before) t.equal(got.status, 200, got.text);
  await step(4);
  fallBack();
  for (const [i, call] of calls.entries()) {
    const got = await rpc(call);
    t.equal(sourceOf(got), 'STALE', `${call.method}: ${got.text}`);
    t.equal(got.text, before[i]?.text);
    t.equal(slotOf(got), slotOf(before[i] ?? got));
  }
  await step(152, 4);
  for (const call of calls) {
    const got = await rpc(call);
    t.match(got.json, { error: 'stale' }, call.method);
    t.equal(got.headers.get('retry-after'), '1');
  }
  world.node.overrides.clear();
  for (const call of calls) t.equal(sourceOf(await rpc(call)), 'MISS');
});

t.test('a block height has no slot and still does not go back', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { rpc, step, node } = world;
  const fallBack = await remember(world, [
    { method: 'getBlockHeight', params: [{ commitment: 'processed' }] },
    { method: 'getEpochInfo', params: [{ commitment: 'processed' }] },
  ]);
  await step(6);
  const first = await rpc({ method: 'getBlockHeight', params: [{ commitment: 'processed' }] });
  t.equal(first.status, 200);
  fallBack();
  await step();
  const second = await rpc({ method: 'getBlockHeight', params: [{ commitment: 'processed', minContextSlot: 1 }] });
  t.match(second.json, { error: 'stale' }, 'what is only processed is not given again');
  node.overrides.clear();
  t.ok(
    (await rpc({ method: 'getBlockHeight', params: [{ commitment: 'processed' }] })).json.result > first.json.result,
  );
});

t.test('a list of signatures has no slot and still does not go back', async (t) => {
  const world = await startStepped(t, { perSlot: 2 });
  const { rpc, step, node } = world;
  const call = { method: 'getSignaturesForAddress', params: [wallet(0), { commitment: 'confirmed', limit: 3 }] };
  await step(4);
  const first = await rpc(call);
  t.equal(first.status, 200);
  await step(4);
  const behind = { error: '{"code":-32016,"message":"Minimum context slot has not been reached"}' };
  node.overrides.set(
    call.method,
    ([, config]) => (config.minContextSlot > slotOf(first) - 1 ? behind : { result: '[]' }), // from before the wallet had any
  );
  const second = await rpc(call);
  t.equal(sourceOf(second), 'STALE');
  t.equal(second.text, first.text);
  node.overrides.clear();
  t.ok(slotOf(await rpc(call)) > slotOf(first));
  for (const config of [[7], 'x', { minContextSlot: 'x' }, { minContextSlot: -1 }]) {
    const odd = await rpc({ method: call.method, params: [wallet(0), config] });
    t.equal(odd.headers.get('x-rpc-error-code'), '-32602', `the node refuses ${JSON.stringify(config)} itself`);
  }
});

t.test('a result too long for the cache binds later ones to its slot', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { rpc, step, cluster, node } = world;
  const long = address(addressFromByte(31));
  const account = { lamports: 1n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(70_000) };
  cluster.chain.setAccount(long, account);
  await step(3);
  const call = { method: 'getAccountInfo', params: [long, { commitment: 'confirmed', encoding: 'base64' }] };
  const fallBack = await remember(world, [call]);
  await step(4);
  const first = await rpc(call);
  t.equal(sourceOf(first), 'MISS');
  t.ok(first.text.length > 64 * 1024);
  fallBack();
  t.match((await rpc(call)).json, { error: 'stale' });
  node.overrides.clear();
  t.ok(slotOf(await rpc(call)) >= slotOf(first));
});

t.test('an evicted answer still binds later ones to its slot', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['cache.bytes=131072'] });
  const { rpc, step } = world;
  const balance = (rank: number): Call => ({
    method: 'getBalance',
    params: [wallet(rank), { commitment: 'confirmed' }],
  });
  const fallBack = await remember(world, [balance(1)]);
  await step(4);
  t.equal((await rpc(balance(1))).status, 200);
  for (let rank = 2; rank < 22; rank++) {
    for (const encoding of ['base58', 'base64', 'base64+zstd', 'jsonParsed'])
      await rpc({ method: 'getAccountInfo', params: [wallet(rank), { commitment: 'confirmed', encoding }] });
    await rpc(balance(rank));
  }
  fallBack();
  t.match((await rpc(balance(1))).json, { error: 'stale' });
});

t.test("a caller that requires a slot no node has reached gets the node's error", async (t) => {
  const { rpc, cluster } = await startStepped(t, { perSlot: 0 });
  const minContextSlot = cluster.chain.slot('processed') + 100;
  for (const method of ['getSlot', 'getBlockHeight', 'getEpochInfo']) {
    await rpc({ method, params: [{ commitment: 'confirmed' }] });
    const got = await rpc({ method, params: [{ commitment: 'confirmed', minContextSlot }] });
    t.equal(got.status, 503);
    t.equal(got.headers.get('x-rpc-error-code'), '-32016', method);
  }
});

t.test('no processed answer is served a slot later', async (t) => {
  const { rpc, step, cluster } = await startStepped(t, { perSlot: 0 });
  for (const method of ['getBalance', 'getAccountInfo']) {
    const call = { method, params: [wallet(2), { commitment: 'processed' }] };
    t.equal(sourceOf(await rpc(call)), 'MISS');
    t.equal(sourceOf(await rpc(call)), 'HIT');
    await step();
    const next = await rpc(call);
    t.equal(sourceOf(next), 'MISS', method);
    t.equal(slotOf(next), cluster.chain.slot('processed'));
  }
});

t.test('whatever the node does, no answer to the same call ever has an older slot', async (t) => {
  const world = await startStepped(t, { perSlot: 1, skipEvery: 7 });
  const { rpc, get, cluster } = world;
  const calls = ['processed', 'confirmed', 'finalized'].flatMap((commitment): Call[] => [
    { method: 'getSlot', params: [{ commitment }] },
    { method: 'getEpochInfo', params: [{ commitment }] },
    { method: 'getBlockHeight', params: [{ commitment }] },
    { method: 'getBalance', params: [wallet(0), { commitment }] },
    { method: 'getAccountInfo', params: [wallet(0), { commitment, encoding: 'base64' }] },
    { method: 'getLatestBlockhash', params: [{ commitment }] },
  ]);
  calls.push({ method: 'getHealth', params: [] }, { method: 'getVersion', params: [] });
  const newest = new Map<Call, number>();
  const read = async (call: Call): Promise<void> => {
    const got = await rpc(call);
    if (got.status !== 200) return;
    const before = newest.get(call) ?? 0;
    const slot = slotOf(got);
    const inside = got.json.result?.context?.slot ?? got.json.result?.absoluteSlot ?? slot;
    if (inside !== slot) throw new Error(`${JSON.stringify(call)} tells of ${inside} under ${slot}`);
    if (slot < before) throw new Error(`${JSON.stringify(call)} went from ${before} back to ${slot}`);
    newest.set(call, slot);
  };
  const warm = (commitment: string) => Promise.all([get(`/balance/${wallet(0)}?commitment=${commitment}`)]);
  const { control } = cluster;
  const deed = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((slots) => () => stand(world, slots * 400)) },
    { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }).map((slots) => () => control.skewSlots(slots)) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((slots) => () => control.lagBehind(slots)) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }).map((calls) => () => control.failMinContextSlot(calls)) },
    { weight: 2, arbitrary: fc.constantFrom('confirmed', 'finalized').map((commitment) => () => warm(commitment)) },
    { weight: 6, arbitrary: fc.subarray(calls, { minLength: 1 }).map((some) => () => Promise.all(some.map(read))) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 30 }), async (deeds) => {
      for (const work of deeds) await work();
    }),
    { numRuns: 8, endOnFailure: true },
  );
  await waitFor(() => newest.size > 0);
  t.ok(newest.size === calls.length, 'all were answered at some time');
});
