import t from 'tap';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { assertRefusedWithoutUpstream, createDocumentChecker } from '../support/assert-documented.ts';
import { startStepped } from '../support/harness.ts';

const world = await startStepped(t, { perSlot: 4 });
const { get, rpc, cluster, node, step } = world;
const { chain } = cluster;
await step(56, 4);
const fits = await createDocumentChecker(world);

const NOBODY = `${'1'.repeat(63)}2`;
const landed = (slot: number) => chain.block(slot)?.transactions ?? [];
/** Of the last slots that are finalized. */
const old = Array.from({ length: 20 }, (_, i) => landed(chain.slot('finalized') - i)).flat();

t.test("a transaction is the node's own record, members by name", async (t) => {
  const signature = old[0]?.signature ?? '';
  const got = await get(`/tx/${signature}`);
  fits(t, '/tx/{sig}', got);
  const config = { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
  const { result } = (await rpc({ method: 'getTransaction', params: [signature, config] })).json;
  t.same(got.json.result, { signature, confirmationStatus: 'finalized', ...result });
  const names = Object.keys(got.json.result);
  t.same(names.slice(0, 2), ['signature', 'confirmationStatus']);
  t.same(names.slice(2), [...names.slice(2)].sort());
  t.match(got.json.receipt, { commitment: 'confirmed', claim: 'observed/1' });
  t.ok(got.json.slot > got.json.result.slot, 'the answer is about now, its transaction about then');
});

t.test('tokens are called by the names in their metadata; without these, nothing is kept', async (t) => {
  const read = async (signature: string) => {
    const { json, headers } = await get(`/tx/${signature}?enhanced=1`);
    return { told: json.result.enhanced.description as string, cached: headers.get('x-cache') };
  };
  node.overrides.set('getMultipleAccounts', () => ({ error: '{"code":-32005,"message":"busy"}' }));
  const unnamed: string[] = [];
  for (const { signature } of old) {
    const { told } = await read(signature);
    if (/of the token \w{32}/.test(told)) unnamed.push(signature);
  }
  const [signature = ''] = unnamed;
  t.ok(unnamed.length > 1, 'swaps and transfers of tokens');
  t.equal((await read(signature)).cached, 'MISS', 'a text without the names is not kept');
  node.overrides.clear();
  const calls = () => node.requestCounts.get('getMultipleAccounts') ?? 0;
  const before = calls();
  const { told } = await read(signature);
  t.notMatch(told, /of the token \w{32}/);
  t.ok(
    COINS.some(({ symbol }) => told.includes(` ${symbol}`)),
    told,
  );
  t.equal(calls() - before, 1, 'all names in one call');
  t.same(await read(signature), { told, cached: 'HIT' });
  const texts: string[] = [];
  for (const each of unnamed) texts.push((await read(each)).told);
  t.same(
    texts.filter((text) => /of the token \w{32}/.test(text)),
    [],
  );
  t.ok(calls() - before < unnamed.length, 'names are remembered');
});

t.test('enhanced tells what each did, and the document knows all of it', async (t) => {
  const kinds = new Set<string>();
  for (const { signature, error, fee } of old) {
    const got = await get(`/tx/${signature}?enhanced=1`);
    fits(t, '/tx/{sig}', got);
    const { enhanced } = got.json.result;
    t.match(enhanced, { signature, fee: Number(fee), status: error === null ? 'success' : 'failed' });
    t.equal(Object.keys(got.json.result).at(-1), 'enhanced');
    kinds.add(enhanced.type);
  }
  t.ok(kinds.size > 3, [...kinds].join());
  const { signature } = old[0] ?? { signature: '' };
  const [plain, enhanced] = [await get(`/tx/${signature}`), await get(`/tx/${signature}?enhanced=1`)];
  t.strictSame(
    [plain, enhanced].map(({ headers, json }) => [headers.get('cache-control'), json.receipt.claim]),
    [
      ['public, max-age=31536000, immutable', 'observed/1'],
      ['public, max-age=300', 'observed/2'],
    ],
    'a meaning is not told for good',
  );
});

t.test('a finalized transaction is read once and for all, a confirmed one until it is finalized', async (t) => {
  while (landed(chain.slot('confirmed')).length === 0) await step();
  const recent = landed(chain.slot('confirmed'))[0]?.signature ?? '';
  t.equal((await get(`/tx/${recent}`)).json.result.confirmationStatus, 'confirmed');
  t.equal((await get(`/tx/${recent}?commitment=finalized`)).json.error, 'not_found');
  await step(40, 4);
  const first = await get(`/tx/${recent}`);
  t.equal(first.json.result.confirmationStatus, 'finalized');
  await step(12, 4);
  const again = await get(`/tx/${recent}`);
  t.equal(again.headers.get('x-cache'), 'HIT');
  t.equal(again.text, first.text);
});

t.test('a transaction that nobody knows is not found, and not asked for again at once', async (t) => {
  const calls = async (): Promise<number> => (await cluster.control.requestCounts())['getTransaction'] ?? 0;
  const before = await calls();
  for (let i = 0; i < 5; i++) {
    const got = await get(`/tx/${NOBODY}`);
    t.strictSame([got.status, got.json.error], [404, 'not_found']);
    fits(t, '/tx/{sig}', got);
  }
  t.equal((await calls()) - before, 1);
});

t.test('a transaction that is only processed is not there yet', async (t) => {
  while (landed(chain.slot('processed')).length === 0) await step();
  const { signature = '' } = landed(chain.slot('processed'))[0] ?? {};
  t.equal((await get(`/tx/${signature}`)).json.error, 'not_found');
  await step(4);
  t.equal((await get(`/tx/${signature}`)).json.result.confirmationStatus, 'confirmed');
});

t.test('a parameter at fault is refused before the node is asked', async (t) => {
  const wallet = WALLETS[0].address;
  const signatures = ['x', wallet, `1${NOBODY}`, '0'.repeat(88), '%31'.repeat(64), '1'.repeat(2000)];
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_signature',
    signatures.map((signature) => `/tx/${signature}`),
  );
  const queries = [
    'enhanced=0',
    'enhanced=true',
    'enhanced',
    'commitment=processed',
    'logs=1',
    'enhanced=1&enhanced=1',
  ];
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_query',
    queries.map((query) => `/tx/${NOBODY}?${query}`),
  );
});
