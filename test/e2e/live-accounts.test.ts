import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import t from 'tap';
import { SYSTEM_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { exchange, parseResponses } from '../support/raw-http.ts';

const WALLET = WALLETS[0]?.address ?? '';

/** Returns the number of account reads over HTTP. */
const reads = async ({ cluster }: SteppedHarness): Promise<number> =>
  (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;

/** Reads a path in slot after slot until it is live and costs no reads. */
async function keepLive(world: SteppedHarness, path: string): Promise<void> {
  for (let quiet = 0; quiet < 4; ) {
    const before = await reads(world);
    await world.get(path);
    await world.step();
    await world.get(path);
    quiet = (await reads(world)) === before ? quiet + 1 : 0;
  }
}

/** Returns the balance that the chain records. */
const recorded = ({ cluster }: SteppedHarness, slot: number, address = WALLET): number =>
  Number(cluster.chain.accountAt(address, slot)?.lamports ?? 0n);

t.test(
  'an answer is what the chain records at its slot, at each commitment, and never of a future slot (I1)',
  async (t) => {
    const world = await startStepped(t);
    for (let i = 0; i < 25; i++) {
      for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
        const { result, slot } = (await world.get(`/balance/${WALLET}?commitment=${commitment}`)).json;
        if (result.lamports !== recorded(world, slot)) t.fail(`${commitment} at ${slot}`);
        t.ok(slot <= world.cluster.chain.slot(commitment));
      }
      await world.step();
    }
  },
);

t.test('a live account costs no reads, and its slot advances with the Clock updates (I2)', async (t) => {
  const world = await startStepped(t);
  await keepLive(world, `/balance/${WALLET}`);
  const before = await reads(world);
  const slots: number[] = [];
  for (let i = 0; i < 10; i++) {
    await world.step();
    const { json, headers } = await world.get(`/balance/${WALLET}`);
    t.equal(json.result.lamports, recorded(world, json.slot));
    t.equal(headers.get('x-slot'), String(json.slot));
    slots.push(json.slot);
  }
  t.equal(await reads(world), before);
  const [first = 0, last = 0] = [slots[0], slots.at(-1)];
  t.ok(last - first >= 7, `${slots}`);
});

t.test('one subscription serves the balance and the account of an address', async (t) => {
  const world = await startStepped(t);
  await keepLive(world, `/balance/${WALLET}`);
  const before = await reads(world);
  const { result, slot } = (await world.get(`/account/${WALLET}`)).json;
  t.match(result, { address: WALLET, kind: 'system', lamports: recorded(world, slot) });
  t.equal(await reads(world), before);
});

t.test('a processed answer is valid for one slot (I5)', async (t) => {
  const world = await startStepped(t);
  const path = `/balance/${WALLET}?commitment=processed`;
  for (let i = 0; i < 6; i++) {
    const before = await reads(world);
    const { json, headers } = await world.get(path);
    t.match([json.slot, headers.get('x-cache')], [world.cluster.chain.slot('processed'), 'MISS']);
    t.equal((await world.get(path)).headers.get('x-cache'), 'HIT');
    t.equal(await reads(world), before + 1);
    await world.step();
  }
});

t.test('when a session is lost, all accounts on it are stale at once and live again soon (I6)', async (t) => {
  const world = await startStepped(t);
  const path = `/balance/${WALLET}`;
  await keepLive(world, path);
  const { slot } = (await world.get(path)).json;
  await world.cluster.control.delayResponses(2000); // so that no answer can be newer
  await world.cluster.control.dropWebSockets();
  await waitFor(async () => (await world.get(path)).headers.get('x-cache') === 'STALE', 'the loss');
  t.equal((await world.get(path)).json.slot, slot, 'claims what was proven, and no more');
  await world.cluster.control.delayResponses(0);
  await waitFor(async () => {
    world.clock.advance(100);
    await sleep(5);
    return (await world.get('/health')).json.result?.upstreams[0].ws === 'up';
  }, 'the connection');
  await world.step();
  await keepLive(world, path);
  t.equal((await world.get(path)).headers.get('x-cache'), 'HIT');
});

t.test('X-Min-Slot gets an answer that is not older, or a refusal (I7)', async (t) => {
  const world = await startStepped(t);
  const path = `/balance/${WALLET}`;
  const atLeast = (slot: number | string) => world.get(path, { headers: { 'x-min-slot': String(slot) } });
  const { slot } = (await world.get(path)).json;
  t.equal((await atLeast(slot)).headers.get('x-cache'), 'HIT');
  do await world.step();
  while (world.cluster.chain.slot('confirmed') <= slot + 1);
  await waitFor(async () => (await atLeast(slot + 1)).json.slot > slot, 'the newer answer');
  for (const bad of ['x', '-1', '1.5', '01', '99999999999999999999']) {
    t.match((await atLeast(bad)).json, { error: 'invalid_slot' }, bad);
  }
  const far = await atLeast(slot + 1000);
  t.match([far.status, far.json.error, far.headers.get('retry-after')], [503, 'min_slot_not_reached', '1']);
  const near = world.cluster.chain.slot('confirmed') + 1;
  const before = await reads(world);
  const soon = atLeast(near);
  await waitFor(async () => (await reads(world)) > before, 'the question');
  while (world.cluster.chain.slot('confirmed') < near) await world.step();
  t.equal((await soon).status, 200, 'waits for a slot that is near');
});

t.test('a missing account is an answer too, and its creation and closing are notified (I11)', async (t) => {
  const world = await startStepped(t);
  const address = bs58.encode(Buffer.alloc(32, 7));
  await keepLive(world, `/balance/${address}`);
  t.match((await world.get(`/account/${address}`)).json, { result: null });
  const empty = { lamports: 0n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
  for (const lamports of [5n, 0n, 7n]) {
    world.cluster.chain.setAccount(address, { ...empty, lamports });
    const before = await reads(world);
    await world.step(3);
    const { result, slot } = (await world.get(`/balance/${address}`)).json;
    t.equal(result.lamports, Number(lamports), `at ${slot}`);
    t.equal(await reads(world), before);
  }
});

t.test('requests in flight are answered in order, in each slot, also about accounts that have changed', async (t) => {
  const world = await startStepped(t, { set: ['cache.sealAhead=0', 'limits.free.requests=100000'] });
  const addresses = Array.from({ length: 8 }, (_, i) => bs58.encode(Buffer.alloc(32, i + 1)));
  const paths = [
    ...addresses.flatMap((address) => [`/balance/${address}`, `/account/${address}`]),
    `/balances?addresses=${addresses.slice(0, 4).join('%2C')}`,
  ];
  const readAll = () => Promise.all(paths.map((path) => world.get(path)));
  for (let quiet = 0; quiet < 4; ) {
    const before = await reads(world);
    await readAll();
    await world.step();
    quiet = (await reads(world)) === before ? quiet + 1 : 0;
  }
  const packet = paths.map((path) => `GET /api/v1${path} HTTP/1.1\r\nHost: gateway.example\r\n\r\n`).join('');
  const cut: unknown[] = [];
  const slots = Number(process.argv[2] ?? 20);
  const account = { owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
  for (let i = 0; i < slots; i++) {
    // each is made, changed and closed in turn
    const address = addresses[i % addresses.length] ?? '';
    world.cluster.chain.setAccount(address, { ...account, lamports: BigInt(i % 3) });
    await world.step();
    const { text, closed } = await exchange(world.gateway.url, [packet], { responses: paths.length });
    const asked = parseResponses(text).map(({ body }) => /"request":"GET .api.v1([^"]*)"/.exec(body)?.[1]);
    if (closed || `${asked}` !== `${paths}`) cut.push({ i, asked });
  }
  t.same(cut, []);
  await world.step(3);
  const lamports = addresses.map((_, k) => (slots - 1 - ((slots - 1 - k) % addresses.length)) % 3);
  const [balances, accounts] = await Promise.all(
    ['balance', 'account'].map((kind) => Promise.all(addresses.map((address) => world.get(`/${kind}/${address}`)))),
  );
  t.same(
    balances?.map(({ json }) => json.result.lamports),
    lamports,
  );
  t.same(
    accounts?.map(({ json }) => json.result?.lamports ?? 0),
    lamports,
  );
  t.same(
    (await world.get(paths.at(-1) ?? '')).json.result.map((each: { lamports: number }) => each.lamports),
    lamports.slice(0, 4),
  );
});
