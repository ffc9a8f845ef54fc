import { address } from '@solana/web3.js';
import t from 'tap';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { COINS, DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { findAssociatedTokenAddress, findProgramAddress } from '../../src/solana/accounts/program-derived-address.ts';
import { startStepped } from '../support/harness.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';

const { get, cluster, step } = await startStepped(t, { perSlot: 0 });
const { chain } = cluster;
const wallet = WALLETS[0].address;
const NOBODY = '4'.repeat(44);
const NATIVE = 'So11111111111111111111111111111111111111112';

/** Returns an address used only by this test. */
const madeUp = (name: string) => address(findProgramAddress(TOKEN_PROGRAM, [name]));

t.test('the accounts of both token programs are in one list, by mint and address', async (t) => {
  const { json } = await get(`/token-accounts/${wallet}`);
  t.same(
    json.result.map(({ mint }: any) => mint),
    COINS.map(({ mint }) => mint.address).toSorted(),
  );
  for (const row of json.result) {
    const coin = COINS.find(({ mint }) => mint.address === row.mint) ?? t.fail('a coin of the cast');
    if (typeof coin === 'boolean') continue;
    const stored = chain.account(row.address, 'confirmed');
    const amount = Buffer.from(stored?.data ?? []).readBigUInt64LE(64);
    t.match(row, { owner: wallet, programId: coin.program, state: 'initialized', isNative: false, isAssociated: true });
    t.equal(row.lamports, Number(stored?.lamports));
    t.equal(row.tokenAmount.amount, `${amount}`);
    t.equal(row.tokenAmount.decimals, coin.decimals);
    t.equal(row.tokenAmount.uiAmountString, `${amount / 10n ** BigInt(coin.decimals)}`);
  }
  const byProgram = (program: string) => json.result.filter((row: any) => row.program === program);
  t.same(
    byProgram('spl-token').map(({ extensions }: any) => extensions),
    [null, null],
  );
  for (const { extensions } of byProgram('spl-token-2022')) {
    t.ok(extensions.some(({ extension }: any) => extension === 'immutableOwner'));
  }
});

t.test('?mint= returns the accounts of that mint under either program', async (t) => {
  const mint = DOLLAR.mint.address;
  const spare = madeUp('spare');
  const account = tokenAccountFixture(wallet, 18_446_744_073_709_551_615n, mint);
  chain.setAccount(spare, { ...account, lamports: 9_007_199_254_740_993n });
  await step(3);
  const got = await get(`/token-accounts/${wallet}?mint=${mint}`);
  const own = findAssociatedTokenAddress(wallet, mint, 'spl-token');
  t.same(
    got.json.result.map(({ address, isAssociated }: any) => [address, isAssociated]),
    [
      [own, true],
      [spare, false],
    ].sort(),
  );
  t.match(got.text, '"amount":"18446744073709551615"');
  t.match(got.text, '"lamports":9007199254740993,"sol":"9007199.254740993"');
});

t.test('an owner without accounts and an address that is not a mint give an empty list', async (t) => {
  t.same((await get(`/token-accounts/${NOBODY}`)).json.result, []);
  t.same((await get(`/token-accounts/${wallet}?mint=${NOBODY}`)).json.result, []);
  t.same((await get(`/token-accounts/${wallet}?mint=${WALLETS[1]?.address}`)).json.result, []);
  t.same((await get(`/token-accounts/${wallet}?mint=${NATIVE}`)).json.result, []);
});

t.test('a list that was just read is observed, at finalized too', async (t) => {
  await step(40, 4); // above the first finalized slot that the gateway observed
  for (const commitment of ['processed', 'confirmed', 'finalized']) {
    const { json } = await get(`/token-accounts/${WALLETS[2]?.address}?commitment=${commitment}`);
    t.match(json.receipt.claim, /^observed/, commitment);
  }
});

t.test('amounts that depend on the Clock are returned as they are, and only as observed', async (t) => {
  const mint = madeUp('scaled');
  const data = Buffer.alloc(166 + 4 + 56);
  data[44] = 2; // decimals
  data[45] = 1;
  data[165] = 1; // a mint
  data.writeUInt16LE(25, 166); // a multiplier
  data.writeUInt16LE(56, 168);
  data.writeDoubleLE(3, 170 + 32);
  data.writeDoubleLE(3, 170 + 48);
  const owner = madeUp('scaled owner');
  chain.setAccount(mint, { lamports: 5_000_000n, owner: TOKEN_2022_PROGRAM, executable: false, data });
  chain.setAccount(madeUp('scaled account'), tokenAccountFixture(owner, 150, mint, TOKEN_2022_PROGRAM));
  await step(40, 4);
  const { json } = await get(`/token-accounts/${owner}?commitment=finalized`);
  t.match(json.result, [{ tokenAmount: { amount: '150', decimals: 2, uiAmount: 4.5, uiAmountString: '4.5' } }]);
  t.match(json.receipt.claim, /^observed/);
});

t.test('bad input is refused before any request to the cluster', async (t) => {
  await step();
  const asked = async () => Object.values(await cluster.control.requestCounts()).reduce((sum, count) => sum + count, 0);
  const before = await asked();
  for (const [target, error] of [
    ['/token-accounts/x', 'invalid_address'],
    [`/token-accounts/${wallet}?mint=x`, 'invalid_address'],
    [`/token-accounts/${wallet}?mint=`, 'invalid_address'],
    [`/token-accounts/${wallet}?commitment=max`, 'invalid_query'],
    [`/token-accounts/${wallet}?page=1`, 'invalid_query'],
  ] as const) {
    const { status, json } = await get(target);
    t.equal(status, 400);
    t.equal(json.error, error, target);
  }
  t.equal(await asked(), before);
});
