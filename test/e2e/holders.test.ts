import { address } from '@solana/web3.js';
import bs58 from 'bs58';
import t from 'tap';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { DOLLAR, GOLD, POINTS, TOLL, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { findProgramAddress } from '../../src/solana/accounts/program-derived-address.ts';
import { startStepped } from '../support/harness.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';

const { get, cluster, node, step } = await startStepped(t, { perSlot: 0 });
const { chain } = cluster;
const NOBODY = '4'.repeat(44);
const dollar = DOLLAR.mint.address;

/** Returns the chain's confirmed holders in the documented order. */
function expected(mint: string, program: string) {
  return chain
    .programAccounts(program, 'confirmed')
    .flatMap(([address, { data }]) => {
      const bytes = Buffer.from(data);
      if (bytes.length < 165 || bs58.encode(bytes.subarray(0, 32)) !== mint) return [];
      return [{ address, owner: bs58.encode(bytes.subarray(32, 64)), amount: bytes.readBigUInt64LE(64) }];
    })
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : a.address < b.address ? -1 : 1))
    .map((row) => ({ ...row, amount: `${row.amount}` }));
}

const compareKeys = (a: string, b: string): number => Buffer.compare(bs58.decode(a), bs58.decode(b));
const rows = (items: any[]) => items.map(({ address, owner, amount }) => ({ address, owner, amount }));
const scans = async (): Promise<number> => node.requestCounts.get('getProgramAccounts') ?? 0;
const requests = async () => (await cluster.control.requestCounts())['getProgramAccounts'] ?? 0;

t.test('the first page needs no scan, and names the owners', async (t) => {
  const { json } = await get(`/token/${dollar}/holders`);
  const { result } = json;
  const all = expected(dollar, TOKEN_PROGRAM);
  t.match(result, { mint: dollar, decimals: 6, page: 1, pageSize: 20, total: null, hasMore: true });
  t.equal(result.source, 'largest-accounts');
  t.same(rows(result.items), all.slice(0, 20));
  t.same(
    result.items.map(({ rank }: any) => rank),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  const [first] = result.items;
  t.equal(first.percentage, Number(((Number(first.amount) / Number(result.supply)) * 100).toFixed(6)));
  t.equal(await requests(), 0);
  t.match(json.receipt.claim, /^observed/);
});

t.test('further pages come from one scan, and so does the first page while the scan is cached', async (t) => {
  const all = expected(dollar, TOKEN_PROGRAM);
  const second = (await get(`/token/${dollar}/holders?page=2`)).json;
  t.match(second.result, { page: 2, total: all.length, hasMore: false, source: 'scan' });
  t.same(rows(second.result.items), all.slice(20));
  t.equal(second.result.items[0].rank, 21);
  const beyond = (await get(`/token/${dollar}/holders?page=999999999`)).json.result;
  t.match(beyond, { items: [], hasMore: false, total: all.length });
  await step(28, 4);
  const first = (await get(`/token/${dollar}/holders`)).json.result;
  t.equal(first.source, 'scan');
  t.same(rows(first.items), all.slice(0, 20));
  t.equal(await requests(), 1);
  await step(152, 4); // a minute
  t.equal((await get(`/token/${dollar}/holders?page=1`)).json.result.source, 'largest-accounts');
});

t.test('by owner, the accounts of each are added up, from the same scan', async (t) => {
  const mint = dollar;
  const incinerator = '1nc1nerator11111111111111111111111111111111';
  const several: [string, bigint, string][] = ['one', 'two', 'three'].map((name, i) => [name, BigInt(i + 1), NOBODY]);
  for (const [name, amount, owner] of [...several, ['burned', 2n, incinerator] as const])
    chain.setAccount(
      address(findProgramAddress(TOKEN_PROGRAM, [name])),
      tokenAccountFixture(owner, Number(amount), mint, TOKEN_PROGRAM),
    );
  await step(40, 4);
  const before = await requests();
  const byAccount = [];
  for (const page of [2, 1, 3]) byAccount.push(...(await get(`/token/${mint}/holders?page=${page}`)).json.result.items);
  const sums = new Map<string, { amount: bigint; accounts: number }>();
  for (const { owner, amount } of byAccount) {
    const sum = sums.get(owner) ?? { amount: 0n, accounts: 0 };
    sums.set(owner, { amount: sum.amount + BigInt(amount), accounts: sum.accounts + 1 });
  }
  const expectedOwners = [...sums]
    .map(([owner, { amount, accounts }]) => ({ owner, amount, accounts }))
    .sort((a, b) => (a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : compareKeys(a.owner, b.owner)))
    .map((row, i) => ({ ...row, rank: i + 1, amount: `${row.amount}` }));
  const first = (await get(`/token/${mint}/holders?by=owner`)).json.result;
  const second = (await get(`/token/${mint}/holders?by=owner&page=2`)).json.result;
  t.match(first, { source: 'scan', total: expectedOwners.length, hasMore: true, page: 1 });
  t.match(second, { source: 'scan', total: expectedOwners.length, hasMore: false, page: 2 });
  const shown = [...first.items, ...second.items];
  t.same(
    shown.map(({ owner, amount, accounts, rank }: any) => ({ owner, amount, accounts, rank })),
    expectedOwners,
  );
  t.match(
    shown.find(({ owner }: any) => owner === NOBODY),
    { amount: '6', accounts: 3, label: null },
  );
  t.match(
    shown.find(({ owner }: any) => owner === incinerator),
    { label: 'Incinerator (burned)' },
  );
  t.match(
    byAccount.find(({ owner }: any) => owner === incinerator),
    { label: 'Incinerator (burned)' },
  );
  t.equal((await requests()) - before, 1);
  t.equal((await get(`/token/${mint}/holders?by=account`)).json.error, 'invalid_query');
});

t.test('Token-2022 accounts with extensions and without are in one list', async (t) => {
  const mint = POINTS.mint.address;
  const plain = address(findProgramAddress(TOKEN_2022_PROGRAM, ['plain']));
  chain.setAccount(plain, tokenAccountFixture(NOBODY, 7, mint, TOKEN_2022_PROGRAM));
  await step(4);
  const all = expected(mint, TOKEN_2022_PROGRAM);
  t.equal(all.at(-1)?.address, plain);
  const { result } = (await get(`/token/${mint}/holders?page=2`)).json;
  t.same(rows(result.items), all.slice(20));
  t.equal(result.total, WALLETS.length + 1);
});

t.test('a mint with few holders has one page', async (t) => {
  const { result } = (await get('/token/So11111111111111111111111111111111111111112/holders')).json;
  t.match(result, { total: 0, hasMore: false, items: [], supply: '0' });
});

t.test('an address that is not a mint has no holders', async (t) => {
  for (const page of ['', '?page=2']) {
    t.match((await get(`/token/${NOBODY}/holders${page}`)).json, { error: 'not_found' });
    t.match((await get(`/token/${WALLETS[0].address}/holders${page}`)).json, { error: 'not_a_mint' });
  }
});

t.test('bad input is refused before any request to the cluster', async (t) => {
  const asked = async () => Object.values(await cluster.control.requestCounts()).reduce((sum, count) => sum + count, 0);
  const before = await asked();
  for (const [target, error] of [
    ['/token/x/holders', 'invalid_address'],
    ...['0', '-1', '1.5', 'x', '', '1e3', '9'.repeat(30)].map((page) => [
      `/token/${dollar}/holders?page=${page}`,
      'invalid_page',
    ]),
    [`/token/${dollar}/holders?commitment=confirmed`, 'invalid_query'],
  ] as const) {
    const { status, json } = await get(target ?? '');
    t.equal(status, 400);
    t.equal(json.error, error, target);
  }
  t.equal(await asked(), before);
});

t.test('if no node lists the holders, the answer says so and nothing else', async (t) => {
  const mint = TOLL.mint.address; // with nothing cached
  const expectUnavailable = async (page: number): Promise<void> => {
    const { status, json } = await get(`/token/${mint}/holders?page=${page}`);
    t.strictSame([status, json.error], [501, 'holders_unavailable'], `page ${page}`);
    t.notMatch(json.message, 'secret');
  };
  for (const code of [-32010, -32012, -32601]) {
    const refusal = { error: `{"code":${code},"message":"secret: excluded from account secondary indexes"}` };
    node.overrides.set('getTokenLargestAccounts', () => refusal).set('getProgramAccounts', () => refusal);
    await expectUnavailable(1);
    await expectUnavailable(2);
    await step(4, 4);
  }
  node.overrides.clear();
});

t.test('a mint that has too many holders is scanned once in minutes, whatever page is asked for', async (t) => {
  node.overrides.set('getProgramAccounts', () => ({ result: `"${'x'.repeat(65 << 20)}"` }));
  const before = await scans();
  for (const page of [2, 3, 4]) {
    const { json } = await get(`/token/${GOLD.mint.address}/holders?page=${page}`);
    const message =
      'this mint has more holders than can be listed: ask for the first page by account, which needs no list';
    t.same(json, { error: 'holders_unavailable', message });
  }
  t.equal(await scans(), before + 1);
  node.overrides.clear();
  await step(40, 40);
  t.equal((await get(`/token/${GOLD.mint.address}/holders?page=2`)).status, 501);
});

t.test('after a timeout of the node the caller is told to retry', async (t) => {
  const late = { error: '{"code":-32005,"message":"Node is behind by 42 slots"}' };
  node.overrides.set('getTokenLargestAccounts', () => late);
  const { status, json } = await get(`/token/${GOLD.mint.address}/holders`);
  t.strictSame([status, json.error], [503, 'upstream_unavailable']);
  node.overrides.clear();
  await step(4, 4);
  t.equal((await get(`/token/${GOLD.mint.address}/holders`)).status, 200);
});

t.test("holders from before an earlier answer's slot are not returned", async (t) => {
  const target = `/token/${GOLD.mint.address}/holders`;
  const { slot } = (await get(target)).json;
  const rows = WALLETS.map((wallet) => ({ address: cluster.setup.tokenAccountOf(GOLD, wallet) }));
  const largestAt = (at: number) => ({ result: `{"context":{"slot":${at}},"value":${JSON.stringify(rows)}}` });
  node.overrides.set('getTokenLargestAccounts', () => largestAt(slot - 1));
  await step(40, 4);
  const { status, json, headers } = await get(target);
  t.strictSame([status, json.slot, headers.get('x-cache')], [200, slot, 'STALE']);
  node.overrides.clear();
  await step();
  t.ok((await get(target)).json.slot > slot);
});
