import { address } from '@solana/web3.js';
import t from 'tap';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { DOLLAR, GOLD, TOLL, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS, PYTH_PUSH_ORACLE } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { WRAPPED_SOL } from '../../src/solana/accounts/known-mints.ts';
import { findMetadataAddress } from '../../src/solana/accounts/metaplex-metadata-account.ts';
import { findPriceFeedAddress } from '../../src/solana/accounts/pyth-price.ts';
import { type HttpAnswer, type SteppedHarness, startStepped } from '../support/harness.ts';
import {
  addressFromByte,
  metadataFixture,
  mintFixture,
  tokenAccountFixture,
  tokenOwner,
} from '../support/token-account-fixtures.ts';

const OWNER = addressFromByte(7);
const [A, B] = [address(addressFromByte(21)), address(addressFromByte(22))];
const PATH = `/token-accounts/${OWNER}`;
const GONE = { lamports: 0n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
/** Settings without audits, whose reads would be counted. */
const UNAUDITED = 'watch.auditMs=3600000';

/** Returns a token account in the form of the cluster's chain. */
const held = (owner: string, amount: number, mint: string = DOLLAR.mint.address, program = TOKEN_PROGRAM) => ({
  ...tokenAccountFixture(owner, amount, mint),
  owner: program,
});

/** Returns the number of list reads. */
const reads = async ({ cluster }: SteppedHarness): Promise<number> =>
  (await cluster.control.requestCounts())['getTokenAccountsByOwner'] ?? 0;

/** Reads a path in slot after slot until it has cost no list read for some slots; returns the answers. */
async function keepLive(world: SteppedHarness, path: string, slots = 3): Promise<readonly HttpAnswer[]> {
  const quiet: HttpAnswer[] = [];
  for (let i = 0; quiet.length < slots; i++) {
    if (i > 500) throw new Error(`${path} does not come to be kept live`);
    const before = await reads(world);
    await world.step();
    const got = await world.get(path);
    if ((await reads(world)) === before) quiet.push(got);
    else quiet.length = 0;
  }
  return quiet;
}

t.test('the token accounts of an owner that is requested repeatedly cost no reads (I15)', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED] });
  world.cluster.chain.setAccount(A, held(OWNER, 1_000_000));
  world.cluster.chain.setAccount(B, held(OWNER, 50, TOLL.mint.address, TOKEN_2022_PROGRAM));
  await world.step(3);
  const answers = await keepLive(world, PATH, 6);
  t.ok(answers.every(({ json }) => json.result.length === 2));
  t.ok(answers.at(-1)?.json.slot > answers[0]?.json.slot, 'their slot moves on');
  t.match(await keepLive(world, `${PATH}?mint=${TOLL.mint.address}`), [{ json: { result: [{ address: B }] } }]);
  t.strictSame((await keepLive(world, `${PATH}?mint=${GOLD.mint.address}`))[0]?.json.result, []);
});

t.test('each answer is what the chain holds at its slot, whatever happens to the accounts (I15)', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { chain } = world.cluster;
  const recorded = (slot: number): object =>
    Object.fromEntries(
      [A, B].flatMap((each) => {
        const account = chain.accountAt(each, slot);
        if (account?.owner !== TOKEN_PROGRAM || tokenOwner(account) !== OWNER) return [];
        return [[each, `${Buffer.from(account.data).readBigUInt64LE(64)}`]];
      }),
    );
  const lists = new Set<string>();
  const check = ({ json: { slot, result } }: HttpAnswer): void => {
    const rows = Object.fromEntries(result.map(({ address, tokenAmount }: any) => [address, tokenAmount.amount]));
    t.strictSame(rows, recorded(slot), `at ${slot}`);
    lists.add(JSON.stringify(rows));
  };
  (await keepLive(world, PATH)).forEach(check);
  for (const [each, account] of [
    [A, held(OWNER, 1)],
    [B, held(OWNER, 2)],
    [A, held(OWNER, 3)],
    [A, held(addressFromByte(9), 3)],
    [B, GONE],
    [A, held(OWNER, 4)],
  ] as const) {
    chain.setAccount(each, account);
    for (let i = 0; i < 3; i++) {
      await world.step();
      check(await world.get(PATH));
    }
    (await keepLive(world, PATH)).forEach(check);
  }
  t.equal(lists.size, 6, 'all of it was seen');
});

const pyth = [`prices.sources=["pyth-onchain"]`, `prices.pyth.feeds=${JSON.stringify(PRICE_FEEDS)}`];

t.test('a live portfolio keeps its accounts and is valued again every few slots', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED, ...pyth] });
  const { chain } = world.cluster;
  const wallet = WALLETS[0].address;
  const path = `/address/${wallet}/portfolio`;
  const answers = await keepLive(world, path, 10);
  const sol = ({ json }: HttpAnswer): any => json.result.items.find(({ asset }: any) => asset === 'SOL');
  for (const each of answers) t.equal(sol(each).amount, `${chain.accountAt(wallet, each.json.slot)?.lamports}`);
  t.ok(new Set(answers.map(({ json }) => json.slot)).size > 1, 'their slot moves on');
  t.ok(new Set(answers.map((each) => sol(each).priceUsd)).size > 1, 'so do the prices');
  chain.setAccount(wallet, { ...GONE, lamports: 77n });
  await world.step(5); // a slot later than the balance alone: the tokens must have reached its slot
  t.equal(sol(await world.get(path)).amount, '77');
});

t.test('a portfolio that is polled costs no upstream call once it is live, and follows what it shows', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED, ...pyth] });
  const { chain } = world.cluster;
  const path = `/address/${WALLETS[0].address}/portfolio`;
  /** Returns the upstream calls that read accounts, by lists or by address. */
  const calls = async (): Promise<number> => {
    const counts = await world.cluster.control.requestCounts();
    return (counts['getTokenAccountsByOwner'] ?? 0) + (counts['getMultipleAccounts'] ?? 0);
  };
  const rowOf = ({ json }: HttpAnswer, mint: string): any => json.result.items.find((item: any) => item.mint === mint);
  /** Requests the portfolio as a dashboard does, every five seconds. */
  const poll = async (): Promise<HttpAnswer> => {
    await world.step(12);
    return world.get(path);
  };
  for (let i = 0; i < 5; i++) await poll();
  const before = await calls();
  const feed = address(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[WRAPPED_SOL] ?? ''));
  const priceAt = (slot: number): number =>
    Number(Buffer.from(chain.accountAt(feed, slot)?.data ?? []).readBigInt64LE(73)) / 1e8;
  for (let i = 0; i < 4; i++) {
    const answer = await poll();
    const { slot } = answer.json;
    const recent = Array.from({ length: 6 }, (_, ago) => priceAt(slot + 1 - ago));
    t.ok(recent.includes(rowOf(answer, WRAPPED_SOL).priceUsd), 'the price is at most four slots old');
  }
  t.equal(await calls(), before);

  const mint = DOLLAR.mint.address;
  t.match(rowOf(await poll(), mint), { name: 'Demo Dollar', decimals: 6 });
  const metadata = metadataFixture(mint, 'Another Dollar', 'ADUSD');
  chain.setAccount(address(findMetadataAddress(mint)), { ...metadata, executable: false });
  await world.step(4);
  t.match(rowOf(await world.get(path), mint), { name: 'Another Dollar', symbol: 'ADUSD' });
  chain.setAccount(address(mint), mintFixture(2, 1_000_000_000));
  await world.step(4);
  t.match(rowOf(await world.get(path), mint), { name: 'Another Dollar', decimals: 2 });
});

t.test('a list of an owner without accounts, and one that does not exist, comes to be live', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED] });
  const path = `/address/${addressFromByte(99)}/portfolio`;
  for (const answer of await keepLive(world, path, 5)) t.strictSame(answer.json.result.items, []);
  world.cluster.chain.setAccount(A, held(addressFromByte(99), 7));
  await world.step(4);
  t.match((await world.get(path)).json.result.items, [{ amount: '7' }]);
});
