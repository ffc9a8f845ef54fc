import { address } from '@solana/web3.js';
import t from 'tap';
import { TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { findProgramAddress } from '../../src/solana/accounts/program-derived-address.ts';
import { parseSolDomain, resolveDomain } from '../../src/solana/accounts/sol-domain.ts';
import { startStepped } from '../support/harness.ts';
import { decodeBase64, solNames } from '../support/recorded-accounts.ts';

const { get, cluster, step } = await startStepped(t, { perSlot: 1 });
const { chain } = cluster;
const NOBODY = '4'.repeat(44);
const SYSTEM = '1'.repeat(32);
const wallet = WALLETS[0].address;
const dollar = DOLLAR.mint.address;
await step(20, 4);

const search = async (q: string) => get(`/search?q=${encodeURIComponent(q)}`);
const found = async (q: string) => (await search(q)).json.result;

t.test('an address is an account, and a mint if it is one', async (t) => {
  t.same(await found(wallet), {
    query: wallet,
    type: 'address',
    id: wallet,
    path: `/api/v1/account/${wallet}`,
    exists: true,
    kind: 'system',
    domain: null,
    name: null,
    alternatives: [],
  });
  t.match(await found(dollar), { type: 'mint', path: `/api/v1/token/${dollar}`, exists: true, kind: 'spl-token:mint' });
  t.match(await found(NOBODY), { type: 'address', exists: false, kind: null });
  t.match(await found(SYSTEM), { type: 'address', id: SYSTEM, exists: true }, 'all digits, and yet no slot');
});

t.test('a signature is a transaction', async (t) => {
  const signature =
    chain.transactionsOf(wallet).findLast(({ slot }) => slot <= chain.slot('confirmed'))?.signature ?? '';
  t.match(await found(signature), { type: 'signature', id: signature, path: `/api/v1/tx/${signature}`, exists: true });
  t.match(await found('5'.repeat(87)), { type: 'signature', exists: false });
});

t.test('digits are a slot', async (t) => {
  const slot = chain.slot('confirmed');
  t.match(await found(`${slot}`), { type: 'slot', id: `${slot}`, path: `/api/v1/block/${slot}`, exists: true });
  t.match(await found(`${slot + 1000}`), { type: 'slot', exists: false });
  const highest = `${2n ** 64n - 1n}`;
  t.match(await found(highest), { type: 'slot', id: highest, exists: false });
  const grouped = slot.toLocaleString('en');
  t.match(await found(`#${grouped}.`), { query: `#${grouped}.`, type: 'slot', id: `${slot}`, exists: true });
  t.match(await found('7'), { type: 'slot', exists: false });
});

t.test('an epoch leads to the current one, or to its first block', async (t) => {
  const { epoch, slotsInEpoch } = (await get('/epoch')).json.result;
  const current = await found(`https://explorer.solana.com/epoch/${epoch}`);
  t.match(current, { type: 'epoch', id: `${epoch}`, path: '/api/v1/epoch', exists: true, kind: 'current' });
  const next = await found(`epoch ${epoch + 2}`);
  const path = `/api/v1/block/${(epoch + 2) * slotsInEpoch}`;
  t.match(next, { type: 'epoch', path, exists: false, kind: 'future' });
});

t.test('a known name stands for an address, and tells of the others', async (t) => {
  const result = await found('raydium');
  t.match(result, { query: 'raydium', type: 'address', name: 'Raydium', exists: false });
  t.ok(result.alternatives.length > 3);
  t.match(await found('$sol'), { name: 'SOL', type: 'mint', exists: true, alternatives: [] });
});

t.test('the hash of a block that was read here stands for its slot', async (t) => {
  const { slot = 0, hash = '' } = chain.newestBlock('confirmed') ?? {};
  t.match(await found(hash), { type: 'address', exists: false }, 'no node finds a block by its hash');
  await get(`/block/${slot}`);
  await step(20, 4);
  t.match(await found(hash), { type: 'slot', id: `${slot}`, path: `/api/v1/block/${slot}`, exists: true });
});

t.test("an explorer's URL stands for the subject of its page", async (t) => {
  for (const [url, type, id] of [
    [`https://explorer.solana.com/address/${wallet}?cluster=devnet`, 'address', wallet],
    [`https://solscan.io/token/${dollar}#holders`, 'mint', dollar],
    [`solscan.io/account/${wallet}`, 'address', wallet],
    [`https://solana.fm/block/12345/`, 'slot', '12345'],
    [`http://127.0.0.1:8787/api/v1/token/${dollar}`, 'mint', dollar],
    [`  ${wallet}\n`, 'address', wallet],
  ] as const) {
    t.match(await found(url), { query: url, type, id }, url);
  }
});

t.test('a .sol name resolves as the name service resolves it', async (t) => {
  const domain = parseSolDomain('vector.sol') ?? t.fail('a name');
  if (typeof domain === 'boolean') return;
  const named = solNames.resolutions.filter(({ holder }) => holder === null);
  t.ok(named.length > 3);
  for (const { name, accounts, result } of named) {
    domain.accounts.forEach((at, i) => {
      const stored = accounts[i];
      const account = stored ? decodeBase64(stored) : { owner: SYSTEM, data: new Uint8Array() };
      chain.setAccount(address(at), { ...account, lamports: stored ? 10_000_000n : 0n, executable: false });
    });
    await step(8, 4);
    const { status, json } = await search('Vector.SOL');
    if (result === null) {
      t.equal(status, 404, name);
      t.equal(json.error, 'not_found');
    } else {
      t.match(json.result, { type: 'domain', id: result, path: `/api/v1/account/${result}` }, name);
      t.match(json.result.domain, { name: 'vector.sol', nameAccount: domain.nameAccount });
    }
  }
});

t.test('a tokenized .sol name resolves to the holder of its token', async (t) => {
  const domain = parseSolDomain('vector.sol') ?? t.fail('a name');
  if (typeof domain === 'boolean') return;
  const put = (at: string, account: { readonly owner: string; readonly data: Uint8Array } | null) =>
    chain.setAccount(address(at), {
      ...(account ?? { owner: SYSTEM, data: new Uint8Array() }),
      lamports: account ? 10_000_000n : 0n,
      executable: false,
    });
  const mintData = Buffer.alloc(82);
  mintData.writeBigUInt64LE(1n, 36);
  mintData[45] = 1;
  const holding = address(findProgramAddress(TOKEN_PROGRAM, ['holding']));
  const wrapped = solNames.resolutions.filter(({ name }) => name.startsWith('wrapped'));
  t.equal(wrapped.length, 3);
  for (const { name, accounts, holder, result } of wrapped) {
    const stored = accounts.map((account) => account && decodeBase64(account));
    for (const [i, at] of domain.accounts.entries()) put(at, stored[i] ?? null);
    const found = resolveDomain(domain, stored);
    if (found.status === 'holder') put(found.mint, { owner: TOKEN_PROGRAM, data: mintData });
    put(holding, holder && decodeBase64(holder));
    await step(8, 4);
    const { status, json } = await search('vector.sol');
    if (result === null) t.strictSame([status, json.error], [404, 'not_found'], name);
    else {
      t.match(json.result, { type: 'domain', id: result, path: `/api/v1/account/${result}` }, name);
      t.equal(json.result.domain.method, 'nft');
    }
  }
});

t.test('a meaningless term is refused before any request to the cluster', async (t) => {
  const asked = async () => Object.values(await cluster.control.requestCounts()).reduce((sum, count) => sum + count, 0);
  const before = await asked();
  for (const q of [
    'hello',
    '0x12',
    '-1',
    '1'.repeat(33),
    'a.b.c.sol',
    '.sol',
    '9'.repeat(21),
    'https://example.com/',
    'x'.repeat(1500),
  ]) {
    const { status, json } = await search(q);
    t.equal(status, 400);
    t.equal(json.error, 'unclassifiable', q.slice(0, 40));
  }
  for (const target of ['/search', '/search?q=', '/search?q=%20', `/search?q=1&q=2`, `/search?q=1&limit=2`]) {
    const { status, json } = await get(target);
    t.equal(status, 400);
    t.equal(json.error, 'invalid_query', target);
  }
  t.equal(await asked(), before);
});
