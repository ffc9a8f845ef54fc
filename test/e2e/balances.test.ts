import bs58 from 'bs58';
import t from 'tap';
import { SYSTEM_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

const WALLET = WALLETS[0].address;

/** Returns an address without an account. */
const unused = (byte: number): string => bs58.encode(Buffer.alloc(32, byte));

const FORTY = [WALLET, ...Array.from({ length: 39 }, (_, i) => unused(i + 1))];

const pathOf = (addresses: readonly string[], more = ''): string =>
  `/balances?addresses=${addresses.join('%2C')}${more}`;

/** A world in which only the tests change balances, and no audit reads them. */
const quiet = await startStepped(t, { perSlot: 0, set: ['watch.auditMs=3600000'] });

/** Addresses without an account that no other test of the quiet world uses. */
const fresh = (first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => unused(first + i));

/** Returns the number of account reads over HTTP. */
const reads = async ({ cluster }: SteppedHarness): Promise<number> =>
  (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;

/** Reads a path in slot after slot until it is live and costs no reads. */
async function keepLive(world: SteppedHarness, path: string): Promise<void> {
  for (let free = 0; free < 4; ) {
    const before = await reads(world);
    await world.get(path);
    await world.step();
    await world.get(path);
    free = (await reads(world)) === before ? free + 1 : 0;
  }
}

/** Returns the balances that the chain records at a slot. */
const recorded = ({ cluster }: SteppedHarness, addresses: readonly string[], slot: number): readonly number[] =>
  addresses.map((address) => Number(cluster.chain.accountAt(address, slot)?.lamports ?? 0n));

const lamportsIn = ({ json }: HttpAnswer): readonly number[] =>
  json.result.map(({ lamports }: { lamports: number }) => lamports);

const setLamports = ({ cluster }: SteppedHarness, address: string, lamports: bigint): void =>
  cluster.chain.setAccount(address, { owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0), lamports });

t.test('balances are in the order asked, at one slot, signed; 0 where there is no account', async (t) => {
  const { gateway, get } = quiet;
  const order = [unused(9), WALLET, WALLETS[1]?.address ?? ''];
  const { json, text, headers } = await get(`/balances?addresses=${order.join(',')}`);
  const [missing, ...others] = json.result;
  t.strictSame(missing, { address: order[0], lamports: 0, sol: '0' });
  t.strictSame(
    others.map(({ address, sol }: any) => [address, typeof sol]),
    order.slice(1).map((address) => [address, 'string']),
  );
  t.strictSame(
    json.result.map(({ lamports }: any) => lamports),
    recorded(quiet, order, json.slot),
  );
  t.equal(headers.get('x-slot'), String(json.slot));
  t.match(json.receipt, { request: `GET /api/v1${pathOf(order)}`, claim: 'observed/1', commitment: 'confirmed' });
  const expected = { publicKeys: [gateway.publicKey], cluster: gateway.cluster };
  for (const comma of [',', '%2C', '%2c']) {
    const request = `GET ${gateway.url}/api/v1/balances?addresses=${order.join(comma)}`;
    t.equal(verifyReceipt(text, { ...expected, request }).slot, json.slot, `verified as pasted with ${comma}`);
  }
  const reversed = order.toReversed();
  t.throws(() => verifyReceipt(text, { ...expected, request: `GET /api/v1${pathOf(reversed)}` }), { code: 'request' });
  t.strictSame(lamportsIn(await get(pathOf(reversed))), lamportsIn(await get(pathOf(order))).toReversed());
  t.equal((await get(pathOf(order))).headers.get('x-cache'), 'HIT', 'every spelling is one request');
});

t.test('a finalized answer is exact', async (t) => {
  const world = quiet;
  await world.step(40, 4);
  const { json } = await world.get(pathOf([WALLET, unused(1)], '&commitment=finalized'));
  t.match(json.receipt, { claim: 'exact/1', commitment: 'finalized' });
  t.strictSame(
    json.result.map(({ lamports }: any) => lamports),
    recorded(world, [WALLET, unused(1)], json.slot),
  );
});

t.test('an answer is what the chain records at its slot, at each commitment (I1)', async (t) => {
  const world = await startStepped(t);
  const addresses = WALLETS.map(({ address }) => address).slice(0, 12);
  for (let i = 0; i < 25; i++) {
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const answer = await world.get(pathOf(addresses, `&commitment=${commitment}`));
      const { slot } = answer.json;
      t.strictSame(lamportsIn(answer), recorded(world, addresses, slot), `${commitment} at ${slot}`);
      t.ok(slot <= world.cluster.chain.slot(commitment));
    }
    await world.step();
  }
});

t.test('a miss of 40 is one call; forty live accounts cost none, and the slot advances (I2)', async (t) => {
  const world = quiet;
  const path = pathOf(FORTY, '&commitment=confirmed');
  const beforeMiss = await reads(world);
  t.equal((await world.get(path)).headers.get('x-cache'), 'MISS');
  t.equal(await reads(world), beforeMiss + 1);
  await keepLive(world, path);
  const before = await reads(world);
  const slots: number[] = [];
  for (let i = 0; i < 10; i++) {
    await world.step();
    const answer = await world.get(path);
    t.strictSame(lamportsIn(answer), recorded(world, FORTY, answer.json.slot));
    slots.push(answer.json.slot);
  }
  const [other = '', another = ''] = FORTY.toReversed();
  t.equal((await world.get(pathOf([other, WALLET, another]))).status, 200, 'other batches of these accounts');
  t.equal((await world.get(`/balance/${other}`)).status, 200, 'and single ones are live, too');
  t.equal(await reads(world), before, 'no upstream call at all');
  const [first = 0, last = 0] = [slots[0], slots.at(-1)];
  t.ok(last - first >= 7, `${slots}`);
});

t.test('after a change of one member the next answers have it, soon from memory again', async (t) => {
  const world = quiet;
  const addresses = fresh(60, 12);
  const path = pathOf(addresses);
  await keepLive(world, path);
  let newestSlot = 0;
  for (const lamports of [5n, 0n, 7n]) {
    setLamports(world, addresses[3] ?? '', lamports);
    for (let i = 0; i < 6; i++) {
      await world.step();
      const answer = await world.get(path);
      t.strictSame(lamportsIn(answer), recorded(world, addresses, answer.json.slot), `at ${answer.json.slot}`);
      t.ok(answer.json.slot >= newestSlot, 'never back (I7)');
      newestSlot = answer.json.slot;
    }
    t.equal(lamportsIn(await world.get(path))[3], Number(lamports));
    const before = await reads(world);
    await world.step();
    await world.get(path);
    t.equal(await reads(world), before);
  }
});

t.test('a change between two reads is answered from memory once its slot is known of all', async (t) => {
  const world = quiet;
  const addresses = fresh(80, 5);
  const path = pathOf(addresses);
  await keepLive(world, path);
  await world.step(3); // nobody reads: the entry is not hot
  setLamports(world, addresses[2] ?? '', 11n);
  const before = await reads(world);
  await world.step(5);
  const answer = await world.get(path);
  t.equal(lamportsIn(answer)[2], 11);
  t.strictSame(lamportsIn(answer), recorded(world, addresses, answer.json.slot));
  t.equal(await reads(world), before, 'rebuilt from memory');
});

t.test('X-Min-Slot gets an answer that is not older, or a refusal that no other caller shares', async (t) => {
  const world = quiet;
  const path = pathOf(fresh(90, 5));
  const atLeast = (slot: number, target = path) => world.get(target, { headers: { 'x-min-slot': String(slot) } });
  const { slot } = (await world.get(path)).json;
  t.equal((await atLeast(slot)).headers.get('x-cache'), 'HIT');
  await world.step(4);
  t.ok((await atLeast(slot + 2)).json.slot >= slot + 2);
  t.match((await atLeast(slot + 1000)).json, { error: 'min_slot_not_reached' });
  const ahead = world.cluster.chain.slot('confirmed') + 1;
  const [mine, strangers] = [pathOf([unused(101), unused(102)]), pathOf([unused(103)])];
  const before = await reads(world);
  const pending = atLeast(ahead, strangers);
  t.equal((await world.get(mine)).status, 200, 'at once, beside a read that no node can answer yet');
  await waitFor(async () => (await reads(world)) >= before + 2, 'both questions');
  while (world.cluster.chain.slot('confirmed') < ahead) await world.step();
  const { text, json } = await pending;
  t.ok(json.slot >= ahead, text);
});

t.test('If-None-Match gets a 304 while no balance has changed', async (t) => {
  const world = quiet;
  const addresses = fresh(110, 3);
  const path = pathOf(addresses);
  const { headers, json } = await world.get(path);
  await world.step(4);
  const unchanged = await world.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  t.equal(unchanged.status, 304);
  t.ok(Number(unchanged.headers.get('x-slot')) > json.slot);
  t.match(JSON.parse(unchanged.headers.get('x-receipt') ?? ''), { digest: json.receipt.digest });
  setLamports(world, addresses[1] ?? '', 3n);
  await world.step(4);
  t.equal((await world.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status, 200);
});

t.test('forty addresses of the greatest length fit; what is invalid is named', async (t) => {
  const { get } = quiet;
  const longest = Array.from({ length: 41 }, (_, i) => bs58.encode(Buffer.alloc(32, 0xff).fill(i, 31)));
  t.ok(longest.every(({ length }) => length === 44));
  t.equal((await get(pathOf(longest.slice(0, 40), '&commitment=finalized'))).json.result.length, 40);
  const refused = async (query: string, error: string, message: RegExp): Promise<void> => {
    const { status, json } = await get(`/balances${query}`);
    t.match([status, json.error], [400, error], query.slice(0, 60));
    t.match(json.message, message);
  };
  await refused('', 'invalid_query', /1 to 40 addresses/);
  await refused('?addresses=', 'invalid_query', /1 to 40 addresses/);
  await refused(`?addresses=${longest.join('%2C')}`, 'invalid_query', /1 to 40 addresses/);
  await refused(`?addresses=${WALLET},x`, 'invalid_address', /item 2 of addresses/);
  await refused(`?addresses=${WALLET},`, 'invalid_address', /item 2 of addresses/);
  await refused(`?addresses=${WALLET},+${unused(1)}`, 'invalid_address', /item 2 of addresses/);
  await refused(`?addresses=${WALLET}+${unused(1)}`, 'invalid_address', /item 1 of addresses/);
  await refused(
    `?addresses=${unused(1)},${WALLET},${unused(1)}`,
    'invalid_query',
    /item 3 of addresses repeats item 1/,
  );
  await refused(`?addresses=${WALLET}&addresses=${unused(1)}`, 'invalid_query', /repeated.*addresses=A,B$/);
  await refused(`?addresses=${WALLET}&commitment=max`, 'invalid_query', /commitment/);
  await refused(`?addresses=${WALLET}&limit=1`, 'invalid_query', /addresses, commitment/);
});

t.test('a request counts once per started ten addresses, and a refusal for want of quota takes nothing', async (t) => {
  const { get } = await startStepped(t, { perSlot: 0, set: ['limits.free.requests=50'] });
  let left = 50;
  const costs = async (units: number, path: string, what: string, init: RequestInit = {}): Promise<HttpAnswer> => {
    left -= units;
    const answer = await get(path, init);
    t.equal(Number(answer.headers.get('x-ratelimit-remaining')), left, what);
    return answer;
  };
  const nonce = { headers: { 'x-receipt-nonce': 'n0nce-of_16-char' } };
  const forty = pathOf(FORTY);
  await costs(1, pathOf(FORTY.slice(0, 10)), 'ten');
  await costs(2, pathOf(FORTY.slice(0, 11)), 'eleven');
  t.equal((await costs(4, forty, 'a miss')).headers.get('x-cache'), 'MISS');
  const { headers } = await costs(4, forty, 'a hit');
  t.equal(headers.get('x-cache'), 'HIT');
  await costs(4, forty.replaceAll('%2C', ','), 'a hit in another spelling');
  await costs(4, forty, 'HEAD', { method: 'HEAD' });
  t.equal((await costs(5, forty, 'a nonce', nonce)).json.receipt.nonce, 'n0nce-of_16-char');
  await costs(5, pathOf(FORTY.toReversed()), 'a miss with a nonce', nonce);
  const etag = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
  t.equal((await costs(4, forty, 'a 304', etag)).status, 304);
  t.equal((await costs(1, `${forty}%2Cx`, 'what is invalid')).status, 400);
  await costs(4, forty, 'the last but one');
  await costs(4, forty, 'the last');
  await costs(5, forty, 'a nonce', nonce);
  for (const init of [{}, nonce, etag, { method: 'HEAD' }])
    t.equal((await costs(0, forty, 'nothing is taken', init)).status, 429);
  await costs(2, pathOf(FORTY.slice(0, 20)), 'what is left still serves twenty');
  t.equal((await costs(1, '/slot', 'and one')).status, 200);
  t.equal(left, 0);
});

t.test('when the session is lost the answer is stale at once (I6)', async (t) => {
  const world = quiet;
  const path = pathOf(fresh(120, 3));
  await keepLive(world, path);
  const { slot } = (await world.get(path)).json;
  await world.cluster.control.delayResponses(2000);
  await world.cluster.control.dropWebSockets();
  await waitFor(async () => (await world.get(path)).headers.get('x-cache') === 'STALE', 'the loss');
  t.equal((await world.get(path)).json.slot, slot, 'claims what was proven, and no more');
});
