import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGatewayOver, startStepped } from '../support/harness.ts';
import { untilCurrent } from '../support/until-current.ts';
import { untilSettled } from '../support/until-settled.ts';
import { OutcomeTable } from './outcome-table.ts';

/** The folder of @solana/web3.js 1.x, which `.ci/with-web3js` names. */
const { WEB3JS = '' } = process.env;
const { Connection, Keypair, PublicKey, SolanaJSONRPCError, SystemProgram, Transaction } = createRequire(
  import.meta.url,
)(WEB3JS);

const world = await startStepped(t, { perSlot: 2, set: ['rpc.profile=standard'] });
const { cluster, gateway, step } = world;
await step(160, 4); // a minute, after which there is a performance sample
const open = (url: string, wsEndpoint?: string) =>
  new Connection(url, { commitment: 'confirmed', disableRetryOnRateLimit: true, wsEndpoint });
const throughGateway = open(`${gateway.url}/api/v1/rpc`, `${gateway.url.replace('http', 'ws')}/api/v1/rpc`);
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

const payer = Keypair.generate();

function transfer() {
  const { publicKey } = payer;
  const instruction = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 });
  return new Transaction({
    feePayer: publicKey,
    blockhash: cluster.chain.latestBlockhash('finalized').hash,
    lastValidBlockHeight: 1,
  }).add(instruction);
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
  getMultipleAccountsInfoAndContext: [[wallet]],
  getMinimumLedgerSlot: [],
  getFirstAvailableBlock: [],
  getSupply: [],
  getTotalSupply: [],
  getVoteAccounts: [],
  getSlotLeader: [],
  getSlotLeaders: [finalized(), 3],
  getSignatureStatus: [signature],
  getSignatureStatuses: [[signature]],
  getTransactionCount: [],
  getInflationRate: [],
  getEpochSchedule: [],
  getGenesisHash: [],
  getMinimumBalanceForRentExemption: [165],
  getStakeMinimumDelegation: [],
  isBlockhashValid: [cluster.chain.latestBlockhash('finalized').hash],
  getBlocks: [finalized() - 3, finalized()],
  getNonce: [new PublicKey(Buffer.alloc(32, 77))],
  getNonceAndContext: [new PublicKey(Buffer.alloc(32, 77))],
  getAddressLookupTable: [new PublicKey(Buffer.alloc(32, 77))],
};

/** What the gateway refuses, and web3.js itself, which has some methods for older nodes only, with arguments to try. */
const REFUSED: Readonly<Record<string, readonly unknown[]>> = {
  getLargestAccounts: [],
  getProgramAccounts: [wallet],
  getParsedProgramAccounts: [wallet],
  getInflationGovernor: [],
  getLeaderSchedule: [],
  getFeeCalculatorForBlockhash: [cluster.chain.latestBlockhash('finalized').hash],
  getStakeActivation: [wallet],
  requestAirdrop: [wallet, 1],
  simulateTransaction: [transfer()],
  sendTransaction: [transfer(), [payer]],
  sendRawTransaction: [Buffer.alloc(8)],
  sendEncodedTransaction: [Buffer.alloc(8).toString('base64')],
};

/** Subscriptions that the gateway refuses: web3.js reports that nowhere but in its log. */
const REFUSED_SUBSCRIPTIONS = [
  'onProgramAccountChange',
  'removeProgramAccountChangeListener',
  'onSlotUpdate',
  'removeSlotUpdateListener',
];

/** Methods that other tests here use, that are combined of those above, or that are other names of them. */
const OTHERS = [
  ...[
    'commitment',
    'rpcEndpoint',
    'getFeeForMessage',
    'getInflationReward',
    'getTransactions',
    'getParsedTransactions',
  ],
  ...['getRecentBlockhash', 'getRecentBlockhashAndContext'], // of getLatestBlockhash
  ...['confirmTransaction', 'getCancellationPromise', 'getTransactionConfirmationPromise'],
  ...['BlockHeightExceedance', 'DurableNonce', 'LegacyTimeout'].map((how) => `confirmTransactionUsing${how}Strategy`),
  ...['getConfirmedBlock', 'getConfirmedBlockSignatures', 'getConfirmedTransaction', 'getParsedConfirmedTransaction'],
  ...['getParsedConfirmedTransactions', 'getConfirmedSignaturesForAddress', 'getConfirmedSignaturesForAddress2'],
  ...[
    'onLogs',
    'removeOnLogsListener',
    'onAccountChange',
    'removeAccountChangeListener',
    'onSlotChange',
    'removeSlotChangeListener',
  ],
  ...['onRootChange', 'removeRootChangeListener', 'onSignature', 'onSignatureWithOptions', 'removeSignatureListener'],
];

const table = new OutcomeTable('web3.js');

t.test('each method of a Connection is known to work or to be refused', async (t) => {
  const methods = Object.getOwnPropertyNames(Connection.prototype).filter((name) => !/^(_|constructor$)/.test(name));
  const known = new Set([
    ...Object.keys(READS).map((name) => name.split(' ')[0]),
    ...Object.keys(REFUSED),
    ...REFUSED_SUBSCRIPTIONS,
    ...OTHERS,
  ]);
  const unlisted = methods.filter((name) => !known.has(name));
  t.same(unlisted, []);
});

const read = (connection: typeof direct, name: string, args: readonly unknown[]): Promise<unknown> =>
  connection[name.split(' ')[0] ?? ''](...args);

t.test('a Connection of @solana/web3.js reads through the gateway as from a node', async (t) => {
  await untilCurrent(world);
  for (const [name, args] of Object.entries(READS)) {
    t.same(await read(throughGateway, name, args), await read(direct, name, args), name);
    table.works(name.split(' ')[0] ?? '');
  }
  for (const name of OTHERS) table.works(name); // by the tests below
});

t.test('what is refused is an error that names what to use', async (t) => {
  for (const [name, args] of Object.entries(REFUSED)) {
    const thrown = await read(throughGateway, name, args).catch((reason: unknown) => reason);
    t.ok(thrown instanceof Error, name);
    table.refused(name, thrown);
  }
  for (const name of REFUSED_SUBSCRIPTIONS) table.refused(name, 'web3.js logs the message');
  table.print(t);
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
    const { error, ...data } = got?.data ?? {};
    t.equal(error, 'rpc_error', name);
    t.same(Object.keys(data), Object.keys(expected?.data ?? {}), name); // a slot that it names has advanced
  }
});

t.test('a method that is not allowed is a SolanaJSONRPCError -32601', async (t) => {
  const expected = { name: 'SolanaJSONRPCError', code: -32601, data: { error: 'rpc_method_not_allowed' } };
  await t.rejects(throughGateway.getInflationGovernor(), expected);
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

t.test('a landed transaction is confirmed, and accounts, slots and roots are watched', async (t) => {
  const { value } = await throughGateway.confirmTransaction(
    { signature, ...(await throughGateway.getLatestBlockhash()) },
    'finalized',
  );
  const status = await direct.getSignatureStatus(signature);
  t.same(value.err, status.value?.err); // web3.js gives the notification or the status, whichever comes first
  const seen = { account: 0, logs: 0, slot: 0, root: 0 };
  const count = (what: keyof typeof seen) => () => void seen[what]++;
  const watched = [
    throughGateway.onAccountChange(wallet, count('account'), 'confirmed'),
    throughGateway.onLogs(wallet, count('logs'), 'confirmed'),
    throughGateway.onSlotChange(count('slot')),
    throughGateway.onRootChange(count('root')),
  ];
  for (let steps = 0; Object.values(seen).includes(0) && steps < 100; steps++) await step();
  t.notOk(Object.values(seen).includes(0), JSON.stringify(seen));
  await throughGateway.removeAccountChangeListener(watched[0]);
  await throughGateway.removeOnLogsListener(watched[1]);
  await throughGateway.removeSlotChangeListener(watched[2]);
  await throughGateway.removeRootChangeListener(watched[3]);
});

t.test('a program that watches many accounts may end them one by one', async () => {
  const watched = Array.from({ length: 40 }, () =>
    throughGateway.onAccountChange(Keypair.generate().publicKey, () => {}, 'confirmed'),
  );
  await step();
  for (const each of watched) await untilSettled(throughGateway.removeAccountChangeListener(each), step);
});

/** Steps until a promise is settled. */
const stepped = <T>(pending: Promise<T>): Promise<T> => untilSettled(pending, step);

t.test('both forms of confirmTransaction end as over a node: landed, expired, aborted', async (t) => {
  const status = await direct.getSignatureStatus(signature);
  const confirmed = await stepped(throughGateway.confirmTransaction(signature, 'finalized'));
  t.match(confirmed, { value: { err: status.value?.err } }, 'a signature alone');
  const { blockhash } = await throughGateway.getLatestBlockhash();
  const unknown = { signature: '1'.repeat(64), blockhash };
  const lastValidBlockHeight = (await throughGateway.getBlockHeight('confirmed')) + 3;
  await t.rejects(stepped(throughGateway.confirmTransaction({ ...unknown, lastValidBlockHeight }, 'confirmed')), {
    name: 'TransactionExpiredBlockheightExceededError',
  });
  const end = new AbortController();
  const waiting = stepped(
    throughGateway.confirmTransaction({ ...unknown, lastValidBlockHeight: 1e9, abortSignal: end.signal }, 'confirmed'),
  );
  await step(2);
  end.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
});

t.test('a call over the limit is tried again by web3.js until it is answered', async (t) => {
  const set = ['limits.free.units=3', 'rpc.profile=standard'];
  const limited = await startGatewayOver(t, `${cluster.url},${cluster.wsUrl}`, world.clock, { set });
  const statuses: number[] = [];
  const connection = new Connection(`${limited.gateway.url}/api/v1/rpc`, {
    commitment: 'confirmed',
    fetch: async (...args: Parameters<typeof fetch>) => {
      const answer = await fetch(...args);
      statuses.push(answer.status);
      if (answer.status === 429) world.clock.advance(10_000); // a window
      return answer;
    },
  });
  for (let i = 0; i < 6; i++) t.type(await connection.getSlot(), 'number');
  t.ok(statuses.includes(429), statuses.join());
});

t.test('the bot of the examples runs unchanged', async (t) => {
  const folder = dirname(dirname(dirname(WEB3JS)));
  const program = join(folder, 'bot-web3js.mjs');
  copyFileSync('test/examples/bot-web3js.mjs', program);
  const http = `${gateway.url}/api/v1/rpc`;
  const bot = execFile(process.execPath, [program, http, http.replace('http', 'ws'), '2']);
  let out = '';
  bot.stdout?.on('data', (text) => {
    out += text;
  });
  let isRunning = true;
  const ended = once(bot, 'exit').then(([code]) => {
    isRunning = false;
    return code;
  });
  while (isRunning) await step();
  t.equal(await ended, 0);
  // more than two changes, where several come in one turn
  t.match(out, /^balance \d+\n(token \w+ [\d.]+\n)+batch 5 of 5\nconfirmed \w+ .+\n(changed at \d+ to \d+\n){2,}$/);
});

t.test('X-Min-Slot as a header of the Connection is a floor for all it reads', async (t) => {
  const far = new Connection(`${gateway.url}/api/v1/rpc`, {
    httpHeaders: { 'X-Min-Slot': String(finalized() + 1_000) },
  });
  await t.rejects(far.getEpochInfo(), { name: 'SolanaJSONRPCError', code: -32016 });
});
