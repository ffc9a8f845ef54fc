import { createRequire } from 'node:module';
import t from 'tap';
import { DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { startStepped } from '../support/harness.ts';
import { untilCurrent } from '../support/until-current.ts';

/** The folder of @solana/web3.js 1.98, which `.ci/with-web3js` names. */
const { WEB3JS = '' } = process.env;
const { Connection, PublicKey, SolanaJSONRPCError } = createRequire(import.meta.url)(WEB3JS);

const world = await startStepped(t, { perSlot: 2 });
const { cluster, gateway, step } = world;
await step(160, 4); // a minute, after which there is a performance sample
const open = (url: string) => new Connection(url, { commitment: 'confirmed', disableRetryOnRateLimit: true });
const throughGateway = open(`${gateway.url}/api/v1/rpc`);
const direct = open(cluster.url);

const wallet = new PublicKey(WALLETS[0].address);
const whale = new PublicKey(WHALE.address);
const mint = new PublicKey(DOLLAR.mint.address);
const tokenAccount = new PublicKey(cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]));
const newest = cluster.chain.transactionsOf(WALLETS[0].address).filter(({ slot }) => slot <= finalized());
const { signature, slot: block } = newest.at(-1) ?? {};
const version = { maxSupportedTransactionVersion: 0 };

function finalized(): number {
  return cluster.chain.slot('finalized');
}

/** Reads that a node answers: what each is about, its method first, and its arguments. */
const READS: Readonly<Record<string, readonly unknown[]>> = {
  getBalance: [wallet],
  getBalanceAndContext: [wallet, 'finalized'],
  getAccountInfo: [wallet],
  'getAccountInfo of nobody': [new PublicKey(Buffer.alloc(32, 77))],
  getAccountInfoAndContext: [mint, { dataSlice: { offset: 0, length: 4 } }],
  getParsedAccountInfo: [tokenAccount],
  getMultipleAccountsInfo: [[wallet, whale, mint]],
  getMultipleParsedAccounts: [[mint, tokenAccount]],
  getSlot: [],
  'getSlot with minContextSlot': [{ commitment: 'processed', minContextSlot: 1 }],
  getBlockHeight: [],
  getEpochInfo: [],
  getLatestBlockhash: [],
  getLatestBlockhashAndContext: ['finalized'],
  getTokenAccountsByOwner: [wallet, { mint }],
  getParsedTokenAccountsByOwner: [wallet, { mint }],
  getTokenAccountBalance: [tokenAccount],
  getTokenSupply: [mint],
  getTokenLargestAccounts: [mint],
  getTransaction: [signature, version],
  getParsedTransaction: [signature, version],
  'getTransaction of nobody': ['1'.repeat(64), version],
  getSignaturesForAddress: [wallet, { limit: 5 }],
  getBlock: [block, version],
  getParsedBlock: [block, version],
  getBlockSignatures: [block],
  getBlockTime: [block],
  getBlockProduction: [],
  getRecentPerformanceSamples: [1],
  getRecentPrioritizationFees: [],
  getClusterNodes: [],
  getVersion: [],
};

const read = (connection: typeof direct, name: string, args: readonly unknown[]): Promise<unknown> =>
  connection[name.split(' ')[0] ?? ''](...args);

t.test('a Connection of @solana/web3.js 1.98 reads through the gateway as from a node', async (t) => {
  await untilCurrent(world);
  for (const [name, args] of Object.entries(READS))
    t.same(await read(throughGateway, name, args), await read(direct, name, args), name);
});

t.test('what a node refuses is a SolanaJSONRPCError with its code', async (t) => {
  const failures: Readonly<Record<string, readonly [code: number, ...args: readonly unknown[]]>> = {
    getBlock: [-32001, 1, version],
    getBlockTime: [-32004, finalized() + 1_000],
    getSlot: [-32016, { minContextSlot: finalized() + 1_000 }],
    getTokenSupply: [-32602, wallet],
    getSignaturesForAddress: [-32602, wallet, { limit: 5_000 }],
  };
  for (const [name, [code, ...args]] of Object.entries(failures)) {
    const errorOf = (connection: typeof direct) =>
      read(connection, name, args).then(
        () => undefined,
        (thrown) => thrown,
      );
    const [got, expected] = [await errorOf(throughGateway), await errorOf(direct)];
    t.ok(got instanceof SolanaJSONRPCError, name);
    t.equal(got?.code, code, name);
    t.equal(got?.message, expected?.message, name);
    t.same(got?.data, { error: 'rpc_error' }, name);
  }
});

t.test('a method that is not allowed is a SolanaJSONRPCError -32601', async (t) => {
  const expected = { name: 'SolanaJSONRPCError', code: -32601, data: { error: 'rpc_method_not_allowed' } };
  await t.rejects(throughGateway.getGenesisHash(), expected);
  await t.rejects(throughGateway.getProgramAccounts(wallet), expected);
  await t.rejects(throughGateway.requestAirdrop(wallet, 1), expected);
  await t.rejects(throughGateway.sendRawTransaction(Buffer.alloc(8)), /slotgate sends nothing/);
});

t.test('its batches are answered as by a node', async (t) => {
  const signatures = newest.slice(-5).map((landed) => landed.signature);
  for (const method of ['getTransactions', 'getParsedTransactions'])
    t.same(
      await read(throughGateway, method, [signatures, version]),
      await read(direct, method, [signatures, version]),
      method,
    );
});

t.test('X-Min-Slot as a header of the Connection is a floor for all it reads', async (t) => {
  const far = new Connection(`${gateway.url}/api/v1/rpc`, {
    httpHeaders: { 'X-Min-Slot': String(finalized() + 1_000) },
  });
  await t.rejects(far.getEpochInfo(), { name: 'SolanaJSONRPCError', code: -32016 });
});
