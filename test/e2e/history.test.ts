import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { assertRefusedWithoutUpstream, createDocumentChecker } from '../support/assert-documented.ts';
import { startStepped } from '../support/harness.ts';

const world = await startStepped(t, { perSlot: 6 });
const { get, cluster, step } = world;
const { chain, control } = cluster;
await step(100, 4);
const fits = await createDocumentChecker(world);

const [{ address }] = WALLETS;
const NOBODY = '4'.repeat(44);
const UNKNOWN = `${'1'.repeat(63)}2`;
const path = `/address/${address}/history`;
const tokenAccountsOf = async (owner: string): Promise<string[]> =>
  (await get(`/token-accounts/${owner}`)).json.result.map((row: any) => row.address);

/** The token accounts of the address now: the demo opens and closes some. */
let tokenAccounts = await tokenAccountsOf(address);

/** Returns the transactions that name one of these at a commitment, as their history tells them. */
const knownOf = (addresses: readonly string[], commitment: 'confirmed' | 'finalized' = 'confirmed') =>
  [...new Set(addresses.flatMap((each) => chain.transactionsOf(each)))]
    .filter(({ slot }) => slot <= chain.slot(commitment))
    .sort((a, b) => b.slot - a.slot || (a.signature < b.signature ? -1 : 1));
const known = (commitment: 'confirmed' | 'finalized' = 'confirmed') => knownOf([address, ...tokenAccounts], commitment);

/** Walks from the newest to the end; `between` happens after each page. */
async function walk(query: string, between = async (): Promise<void> => {}): Promise<any[]> {
  const rows: any[] = [];
  for (let before = ''; ; ) {
    const got = await get(`${path}?${query}${before}`);
    fits(t, '/address/{addr}/history', got);
    rows.push(...got.json.result.rows);
    if (got.json.result.nextBefore === null) return rows;
    before = `&before=${got.json.result.nextBefore}`;
    await between();
  }
}

t.test('a row is a signature as the node tells it', async (t) => {
  const got = await get(`${path}?limit=3`);
  const { rows, nextBefore, scanned } = got.json.result;
  const expected = known().slice(0, 3);
  t.same(
    rows,
    expected.map(({ signature, slot, blockTime, error }, i) => ({
      signature,
      slot,
      blockTime: blockTime,
      confirmationStatus: slot <= chain.slot('finalized') ? 'finalized' : 'confirmed',
      err: error,
      memo: rows[i].memo,
    })),
  );
  t.equal(nextBefore, expected[2]?.signature);
  t.equal(scanned, 3);
  t.equal(got.json.slot, chain.slot('confirmed'));
  t.match(got.json.receipt, { commitment: 'confirmed', claim: 'observed/2' });
});

t.test('a history is walked to its end while the chain goes on', async (t) => {
  const expected = known().map(({ signature }) => signature);
  t.ok(expected.length > 30, `${expected.length} transactions`);
  for (const limit of [7, 100]) {
    const rows = await walk(`limit=${limit}`, () => step());
    const signatures = rows.map(({ signature }) => signature);
    t.same(signatures.slice(-expected.length), expected, `${limit} at a time`);
    t.equal(new Set(signatures).size, signatures.length);
  }
});

t.test('finalized rows are asked for with their commitment', async (t) => {
  const expected = known('finalized').map(({ signature }) => signature);
  const rows = await walk('commitment=finalized');
  t.same(
    rows.map(({ signature }) => signature),
    expected,
  );
  t.ok(rows.every(({ confirmationStatus }) => confirmationStatus === 'finalized'));
});

t.test(
  'a full page below a finalized cursor is read once and for all, unless accounts of the address may go',
  async (t) => {
    const pageOf = (account: string): string =>
      `/address/${account}/history?limit=1&before=${knownOf([account], 'finalized')[0]?.signature}`;
    const account = tokenAccounts.find((each) => knownOf([each], 'finalized').length > 2) ?? '';
    const below = `${path}?limit=10&before=${known('finalized')[0]?.signature}`;
    const targets = [pageOf(account), below, `${below}&type=transfers`, `${path}?limit=10`];
    const read = () => Promise.all(targets.map((target) => get(target)));
    const first = await read();
    t.same(
      first.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    await step(12, 4);
    const again = await read();
    t.same(
      again.map(({ headers }) => headers.get('x-cache')),
      ['HIT', 'MISS', 'MISS', 'MISS'],
    );
    t.same(again[0]?.json.result, first[0]?.json.result);
    t.ok(again[1]?.json.slot > first[1]?.json.slot);
  },
);

t.test('what only names a token account is in the history of its owner, once', async (t) => {
  const named = new Set(chain.transactionsOf(address).map(({ signature }) => signature));
  const rows = await walk('limit=100');
  const foreign = rows.filter(({ signature }) => !named.has(signature)).map(({ signature }) => signature);
  t.ok(foreign.length > 0, `${foreign.length} name only a token account`);
  const [account] = tokenAccounts;
  const own = (await get(`/address/${account}/history?type=transfers&limit=25`)).json.result;
  const expected = new Set(knownOf([String(account)]).map(({ signature }) => signature));
  t.ok(own.scanned > 0);
  t.ok(
    own.rows.every((row: any) => expected.has(row.signature)),
    'a token account has its own history',
  );
});

t.test(
  'of each transaction the first row is what it changed, and the sum of them is the change of the balances',
  async (t) => {
    /** Returns what the address has, by mint; its own lamports under SOL. */
    const holdings = async () => {
      const [{ json: balance }, { json: tokens }] = [
        await get(`/balance/${address}`),
        await get(`/token-accounts/${address}`),
      ];
      const amounts = new Map([['SOL', BigInt(balance.result.lamports)]]);
      for (const { mint, tokenAmount } of tokens.result)
        amounts.set(mint, (amounts.get(mint) ?? 0n) + BigInt(tokenAmount.amount));
      return { slots: [balance.slot, tokens.slot], amounts };
    };
    const before = await holdings();
    await step(60, 4);
    const after = await holdings();
    t.same([...before.slots, ...after.slots].length, 4);
    t.equal(new Set(before.slots).size + new Set(after.slots).size, 2, 'each at one slot');
    const [since = 0, until = 0] = [before.slots[0], after.slots[0]];
    const rows = (await walk('type=transfers&limit=25')).filter(({ slot }) => slot > since && slot <= until);
    tokenAccounts = await tokenAccountsOf(address);
    const landed = known().filter(({ slot }) => slot > since && slot <= until);
    const nets = rows.filter(({ type }) => type === 'net');
    t.same(
      nets.map(({ signature, status }) => [signature, status]),
      landed.map(({ signature, error }) => [signature, error === null ? 'success' : 'failed']),
      'one for each',
    );
    const firsts = rows.filter(({ signature }, i) => rows[i - 1]?.signature !== signature);
    t.same(firsts, nets, 'and before its transfers');
    t.same(
      nets.map(({ fee }) => fee),
      landed.map(({ accountKeys, fee }) => (accountKeys[0] === address ? `${fee}` : null)),
    );
    const sums = new Map(before.amounts);
    for (const { asset, mint, amount } of nets.flatMap(({ changes }) => changes)) {
      const key = asset === 'SOL' ? 'SOL' : mint;
      sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
    }
    t.same(sums, after.amounts);
    t.ok(before.amounts.size > 2 && [...after.amounts].some(([mint, amount]) => before.amounts.get(mint) !== amount));
  },
);

t.test('transfers are what moved in the same transactions, seen from the address', async (t) => {
  const rows = (await walk('type=transfers&limit=25')).filter(({ type }) => type !== 'net');
  t.ok(rows.length > 20, `${rows.length} rows`);
  t.ok(rows.every((row) => [row.fromUserAccount, row.toUserAccount].includes(address)));
  t.same(new Set(rows.map(({ direction }) => direction)).has('in'), true);
  const changes = new Map<string, bigint>();
  for (const { signature, accountKeys, preBalances, postBalances, fee, error } of known()) {
    const place = accountKeys.indexOf(address);
    const paid = place === 0 ? fee : 0n;
    if (error === null) changes.set(signature, (postBalances[place] ?? 0n) - (preBalances[place] ?? 0n) + paid);
  }
  for (const { signature, type, asset, direction, amount } of rows) {
    const isUnwrapped = type === 'unwrap'; // tokens of the address that it has as lamports now
    if (!isUnwrapped && (asset !== 'SOL' || direction === 'self')) continue;
    const sign = isUnwrapped || direction === 'in' ? 1n : -1n;
    changes.set(signature, (changes.get(signature) ?? 0n) - sign * BigInt(amount));
  }
  const unexplained = [...changes].filter(([, rest]) => rest !== 0n);
  t.same(unexplained, [], 'the balance moved by that and nothing else');
});

t.test('a page of transfers reads at most 25 transactions, failed ones too', async (t) => {
  const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
  const other = String(WALLETS[1].address);
  const listed = knownOf([other, ...(await tokenAccountsOf(other))]).slice(0, 25);
  const kept = new Set(known().map(({ signature }) => signature));
  const before = await calls();
  const { json } = await get(`/address/${other}/history?type=transfers&limit=100`);
  t.equal(json.result.scanned, 25);
  t.same(
    json.result.rows.filter((row: any) => row.type === 'net').map((row: any) => row.signature),
    listed.map(({ signature }) => signature),
  );
  const shared = listed.filter(({ signature }) => kept.has(signature)).length;
  t.equal((await calls()) - before, 25 - shared, 'those of both addresses are kept');
  t.equal(json.result.nextBefore, listed[24]?.signature, 'the last that was scanned, whether it moved anything or not');
});

t.test('a page costs a call for each list, in either mode, and the list of token accounts is shared', async (t) => {
  const counted = async (path: string): Promise<Record<string, number>> => {
    const before: Record<string, number> = await control.requestCounts();
    t.equal((await get(path)).status, 200);
    const after = Object.entries(await control.requestCounts());
    const made = after.map(([method, count]) => [method, Number(count) - (before[method] ?? 0)] as const);
    return Object.fromEntries(made.filter(([method, count]) => count > 0 && method.startsWith('get')));
  };
  const other = String(WALLETS[2]?.address);
  const path = `/address/${other}/history`;
  const lists = { getSignaturesForAddress: 1 + (await tokenAccountsOf(other)).length };
  t.strictSame(await counted(`${path}?limit=11`), lists, 'the list of its accounts was read for /token-accounts');
  const { nextBefore } = (await get(`${path}?limit=12`)).json.result;
  t.strictSame(await counted(`${path}?limit=13&before=${nextBefore}`), lists, 'where a page ends is remembered');
  await get(`${path}?limit=12&type=transfers`);
  t.strictSame(await counted(`${path}?limit=11&type=transfers`), lists, 'and so are transactions');
});

t.test('a transaction is read once: another page, another slot and /tx have it already', async (t) => {
  const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
  const succeeded = known()
    .filter(({ error }) => error === null)
    .map(({ signature }) => signature);
  await get(`${path}?type=transfers&limit=25`);
  const before = await calls();
  for (const limit of [1, 7, 24]) t.equal((await get(`${path}?type=transfers&limit=${limit}`)).status, 200);
  t.equal(await calls(), before);
  await step(8, 4);
  const added = known().findIndex(({ signature }) => signature === succeeded[0]);
  await get(`${path}?type=transfers&limit=25`);
  t.ok((await calls()) - before <= added, `at most the ${added} that are new`);
  const final = known('finalized').find(({ error }) => error === null)?.signature;
  await get(
    `${path}?type=transfers&limit=25&before=${known().find(({ slot }) => slot > chain.slot('finalized'))?.signature}`,
  );
  await get(`/tx/${final}`);
  const [read, { json }] = [await calls(), await get(`/tx/${final}?enhanced=1`)];
  t.strictSame([json.result.signature, json.result.confirmationStatus], [final, 'finalized']);
  t.equal(await calls(), read);
});

t.test('an address that nothing names has an empty history', async (t) => {
  for (const query of ['', '?type=transfers']) {
    const got = await get(`/address/${NOBODY}/history${query}`);
    t.same(got.json.result, { rows: [], nextBefore: null, scanned: 0 });
    t.equal(got.json.slot, chain.slot('confirmed'));
  }
});

t.test('an unknown cursor is told as such', async (t) => {
  const got = await get(`${path}?before=${UNKNOWN}`);
  t.strictSame([got.status, got.json.error], [404, 'cursor_not_found']);
  fits(t, '/address/{addr}/history', got);
});

t.test("a cursor that is no transaction of the address is told as such, and the end of a history isn't", async (t) => {
  const own = new Set(known().map(({ signature }) => signature));
  const others = WALLETS.slice(1).flatMap(({ address }) => chain.transactionsOf(address));
  const [stranger] = others.filter(
    ({ signature, accountKeys }) => !own.has(signature) && !accountKeys.includes(address),
  );
  if (stranger === undefined) throw new Error('there is no other transaction');
  for (const query of ['', '&type=transfers', '&commitment=finalized']) {
    const got = await get(`/address/${NOBODY}/history?before=${stranger.signature}${query}`);
    t.strictSame([got.status, got.json.error], [404, 'cursor_not_found'], query);
  }
  const oldest = known().at(-1);
  const calls = async (): Promise<number> => (await control.requestCounts())['getTransaction'] ?? 0;
  const before = await calls();
  const { status, json } = await get(`${path}?before=${oldest?.signature}`);
  t.strictSame([status, json.result], [200, { rows: [], nextBefore: null, scanned: 0 }]);
  await get(`${path}?before=${known()[0]?.signature}`);
  t.ok((await calls()) - before <= 1, 'a transaction that is kept is not read again');
});

t.test('a parameter at fault is refused before the node is asked', async (t) => {
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_address',
    ['x', UNKNOWN].map((addr) => `/address/${addr}/history`),
  );
  const cursors = ['', 'x', address, '0'.repeat(88)];
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_cursor',
    cursors.map((cursor) => `${path}?before=${cursor}`),
  );
  const queries = [
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=',
    'limit=1.5',
    'type=swaps',
    'type=',
    'until=x',
    'page=2',
  ];
  queries.push('commitment=processed', 'limit=1&limit=1');
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_query',
    queries.map((query) => `${path}?${query}`),
  );
});
