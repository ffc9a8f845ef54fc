import t, { type Test } from 'tap';
import { READ_METHODS } from '../../src/domain/rpc-methods.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

const [{ address: wallet }] = WALLETS;
const world = await startStepped(t, { perSlot: 1 });
await world.step(160, 16); // a minute, after which there is a performance sample

interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}

const BALANCE: Call = { method: 'getBalance', params: [wallet, { commitment: 'confirmed' }] };

/** Posts to /rpc with `X-Min-Slot`. */
const atLeast = ({ rpc }: SteppedHarness, slot: number | string, body: object = BALANCE): Promise<HttpAnswer> =>
  rpc(body, { headers: { 'content-type': 'application/json', 'x-min-slot': String(slot) } });

const slotOf = (got: HttpAnswer): number => Number(got.headers.get('x-slot'));

function isNotReached(t: Test, got: HttpAnswer, what: string): void {
  t.same([got.status, got.json.error], [503, 'min_slot_not_reached'], what);
  t.equal(got.headers.get('retry-after'), '1', what);
}

/** Calls of every method, at commitment confirmed where it takes one. */
function callsOf({ cluster }: SteppedHarness): readonly Call[] {
  const at = { commitment: 'confirmed' };
  const { signature } = cluster.chain.transactionsOf(wallet)[0] ?? {};
  const finalized = cluster.chain.slot('finalized');
  const mint = DOLLAR.mint.address;
  const params: Readonly<Record<string, readonly unknown[]>> = {
    getBalance: [wallet, at],
    getAccountInfo: [wallet, { ...at, encoding: 'base64' }],
    getMultipleAccounts: [[wallet], at],
    getTokenAccountsByOwner: [wallet, { mint }, { ...at, encoding: 'base64' }],
    getTokenAccountBalance: [cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]), at],
    getTokenSupply: [mint, at],
    getTokenLargestAccounts: [mint, at],
    getBlock: [finalized, { ...at, maxSupportedTransactionVersion: 0 }],
    getBlockTime: [finalized],
    getTransaction: [signature, { ...at, maxSupportedTransactionVersion: 0 }],
    getSignaturesForAddress: [wallet, { ...at, limit: 1 }],
    getVersion: [],
    getHealth: [],
    getClusterNodes: [],
    getRecentPerformanceSamples: [1],
    getRecentPrioritizationFees: [],
  };
  return READ_METHODS.map((method) => ({ method, params: params[method] ?? [at] }));
}

t.test('no method is answered from before X-Min-Slot: each is read again, or refused', async (t) => {
  const calls = callsOf(world);
  const before: HttpAnswer[] = [];
  for (const call of calls) {
    const first = await world.rpc(call);
    t.equal(first.status, 200, `${call.method} ${first.text}`);
    t.equal((await atLeast(world, slotOf(first), call)).text, first.text, call.method);
    before.push(first);
  }
  await world.step(64, 16); // the slots of the finalized answers move on, too
  for (const [i, call] of calls.entries()) {
    const first = before[i] as HttpAnswer;
    const next = await atLeast(world, slotOf(first) + 1, call);
    t.equal(next.status, 200, `${call.method} ${next.text}`);
    t.ok(slotOf(next) > slotOf(first), call.method);
    isNotReached(t, await atLeast(world, slotOf(next) + 1000, call), call.method);
    t.equal((await world.rpc(call)).status, 200, 'a floor holds for its own request alone');
  }
});

t.test('an answer that is new enough comes from the cache', async (t) => {
  const first = await atLeast(world, 0);
  const before = world.node.requestCounts.get('getBalance') ?? 0;
  const again = await atLeast(world, slotOf(first));
  t.equal(again.headers.get('x-cache'), 'HIT');
  t.equal(world.node.requestCounts.get('getBalance') ?? 0, before);
});

t.test('the node is asked for that slot where its method takes one', async (t) => {
  const { node, cluster, step } = world;
  const asked = new Map<string, readonly any[]>();
  for (const method of READ_METHODS)
    node.overrides.set(method, (params) => {
      asked.set(method, params);
      return undefined;
    });
  await step(4, 4); // what is cached is old
  const minSlot = cluster.chain.slot('finalized') - 1;
  for (const call of callsOf(world)) await atLeast(world, minSlot, call);
  const bounded = [...asked].filter(([, params]) => params.at(-1)?.minContextSlot >= minSlot).map(([method]) => method);
  t.same(bounded.sort(), [
    'getAccountInfo',
    'getBalance',
    'getEpochInfo', // for getBlockHeight
    'getLatestBlockhash',
    'getMultipleAccounts',
    'getSignaturesForAddress',
    'getTokenAccountsByOwner',
  ]);
  const configs: readonly (readonly [given: unknown, sent: unknown])[] = [
    [undefined, { minContextSlot: minSlot }],
    [null, { minContextSlot: minSlot }],
    [
      { commitment: 'confirmed', minContextSlot: 1 },
      { commitment: 'confirmed', minContextSlot: minSlot },
    ],
    [{ minContextSlot: 'x' }, { minContextSlot: 'x' }],
    ['x', 'x'],
  ];
  for (const [given, sent] of configs) {
    await atLeast(world, minSlot, { method: 'getBalance', params: given === undefined ? [wallet] : [wallet, given] });
    t.strictSame(asked.get('getBalance'), [wallet, sent]);
  }
  await atLeast(world, minSlot, { method: 'getBalance', params: [] });
  t.strictSame(asked.get('getBalance'), [], 'the node says what is missing');
  node.overrides.clear();
});

t.test('the higher one of X-Min-Slot and minContextSlot counts, and the node speaks for its own', async (t) => {
  const { rpc, cluster } = world;
  const far = cluster.chain.slot('processed') + 100;
  const withParam = (minContextSlot: number): Call => ({ method: 'getBalance', params: [wallet, { minContextSlot }] });
  const nodes = await rpc(withParam(far));
  t.equal(nodes.headers.get('x-rpc-error-code'), '-32016');
  for (const header of [far, far - 1, 0]) {
    const got = await atLeast(world, header, withParam(far));
    t.equal(got.text, nodes.text, `${header}`);
    t.equal(got.headers.get('x-rpc-error-code'), '-32016');
  }
  isNotReached(t, await atLeast(world, far + 1, withParam(far)), 'the header is the reason');
  isNotReached(t, await atLeast(world, far, withParam(1)), 'the header is the reason');
});

t.test('a JSON-RPC call gets -32016', async (t) => {
  const got = await atLeast(world, 99_999_999, { jsonrpc: '2.0', id: 3, ...BALANCE });
  t.equal(got.status, 200);
  t.match(got.json, { id: 3, error: { code: -32016, data: { error: 'min_slot_not_reached' } } });
  t.equal(got.headers.get('retry-after'), '1');
  t.equal(got.headers.get('x-rpc-error-code'), null, 'no node said so');
});

t.test('a malformed slot is refused as for GET; where there is no slot it is ignored', async (t) => {
  for (const bad of ['x', '-1', '1.5', '01', '99999999999999999999']) {
    const got = await atLeast(world, bad);
    t.same([got.status, got.json.error], [400, 'invalid_slot'], bad);
  }
  const headers = { 'content-type': 'application/json', 'x-min-slot': 'x' };
  const explained = await world.get('/explain', { method: 'POST', headers, body: '{}' });
  t.equal(explained.json.error, 'invalid_request');
  for (const path of ['/health', '/pubkey'])
    t.equal((await world.get(path, { headers: { 'x-min-slot': 'x' } })).status, 200, path);
});

t.test('it waits up to a second for a slot that is near', async (t) => {
  const { node, cluster, clock, step } = world;
  const questions = (): number => node.requestCounts.get('getBalance') ?? 0;
  const near = cluster.chain.slot('confirmed') + 1;
  const before = questions();
  const soon = atLeast(world, near);
  await waitFor(() => questions() > before, 'the question');
  while (cluster.chain.slot('confirmed') < near) await step();
  const got = await soon;
  t.equal(got.status, 200);
  t.ok(slotOf(got) >= near);
  await cluster.control.pauseSlots();
  const asked = questions();
  let late: HttpAnswer | undefined;
  void atLeast(world, cluster.chain.slot('confirmed') + 2).then((got) => {
    late = got;
  });
  await waitFor(() => questions() > asked, 'the question');
  await waitFor(() => {
    clock.advance(50);
    return late !== undefined;
  }, 'the refusal');
  if (late !== undefined) isNotReached(t, late, 'after a second');
});

t.test("one caller's slot fails no other caller's read", async (t) => {
  const { rpc, cluster, clock } = world; // its slots stand still since the test before
  const near = cluster.chain.slot('confirmed') + 4;
  let done = false;
  const reads = WALLETS.slice(0, 20).map(({ address }) => {
    const call = { method: 'getBalance', params: [address, { commitment: 'confirmed' }] };
    return Promise.all([atLeast(world, near, call), rpc(call)]);
  });
  const all = Promise.all(reads).finally(() => {
    done = true;
  });
  await waitFor(() => {
    clock.advance(50);
    return done;
  });
  for (const [bound, free] of await all) t.same([bound.status, free.status], [503, 200]);
});
