import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED,
  SOLANA_ERROR__INVALID_NONCE,
  address as toAddress,
  signature as toSignature,
} from '@solana/kit';
import bs58 from 'bs58';
import t from 'tap';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { startStepped } from '../support/harness.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';
import { untilCurrent } from '../support/until-current.ts';
import { untilSettled } from '../support/until-settled.ts';
import { OutcomeTable } from './outcome-table.ts';

// Each method of kit's RPC and of its subscriptions, through the gateway and at the node itself.

const world = await startStepped(t, { perSlot: 2, set: ['rpc.profile=standard', 'limits.free.subscriptions=100'] });
const { cluster, gateway, step } = world;
await step(160, 4);
const [{ address: wallet }] = WALLETS;
const finalized = BigInt(cluster.chain.slot('finalized'));
const newest = cluster.chain.transactionsOf(wallet).findLast(({ slot }) => slot <= finalized);
const { signature = '', slot: block = 0 } = newest ?? {};
const mint = DOLLAR.mint.address;
const tokenAccount = cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]);
const config = { commitment: 'confirmed' };
const version = { maxSupportedTransactionVersion: 0, encoding: 'json' };
const blockhash = cluster.chain.latestBlockhash('finalized').hash;
/** A message without instructions: its header, its payer, the blockhash. */
const message = Buffer.concat([
  Buffer.from([1, 0, 0, 1]),
  bs58.decode(wallet),
  bs58.decode(blockhash),
  Buffer.from([0]),
]).toString('base64');

/** The arguments of each method; those that need none are left out. */
const ARGS: Readonly<Record<string, readonly unknown[]>> = {
  getAccountInfo: [wallet, { ...config, encoding: 'base64' }],
  getBalance: [wallet, config],
  getBlock: [BigInt(block), version],
  getBlockCommitment: [BigInt(block)],
  getBlocks: [finalized - 3n, finalized],
  getBlocksWithLimit: [finalized - 5n, 3],
  getBlockTime: [BigInt(block)],
  getFeeForMessage: [message, config],
  getInflationReward: [[wallet]],
  getMinimumBalanceForRentExemption: [165n],
  getMultipleAccounts: [[wallet, mint], { ...config, encoding: 'base64' }],
  getProgramAccounts: [TOKEN_PROGRAM],
  getSignaturesForAddress: [wallet, { ...config, limit: 5 }],
  getSignatureStatuses: [[signature]],
  getSlotLeaders: [finalized, 3],
  getTokenAccountBalance: [tokenAccount, config],
  getTokenAccountsByDelegate: [wallet, { mint }, { ...config, encoding: 'jsonParsed' }],
  getTokenAccountsByOwner: [wallet, { mint }, { ...config, encoding: 'jsonParsed' }],
  getTokenLargestAccounts: [mint, config],
  getTokenSupply: [mint, config],
  getTransaction: [signature, version],
  getTransactionsForAddress: [wallet],
  isBlockhashValid: [blockhash, config],
  requestAirdrop: [wallet, 1n, config],
  sendTransaction: [message, { encoding: 'base64' }],
  simulateTransaction: [message, { encoding: 'base64' }],
  accountNotifications: [wallet, { ...config, encoding: 'base64' }],
  blockNotifications: ['all'],
  logsNotifications: [{ mentions: [wallet] }, config],
  programNotifications: [TOKEN_PROGRAM, config],
  signatureNotifications: [signature, config],
};

/** What slotgate refuses, and what to use in its place. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  getAgGenesisCert: /about the state of one/,
  getBlockCommitment: /about the state of one/,
  getHighestSnapshotSlot: /about the state of one/,
  getInflationGovernor: /use getInflationRate/,
  getLargestAccounts: /use getTokenLargestAccounts/,
  getLeaderSchedule: /use getSlotLeaders/,
  getMaxRetransmitSlot: /about the state of one/,
  getMaxShredInsertSlot: /about the state of one/,
  getProgramAccounts: /token\/MINT\/holders/,
  getTransactionsForAddress: /address\/ADDRESS\/history/,
  requestAirdrop: /slotgate sends nothing/,
  sendTransaction: /slotgate sends nothing/,
  simulateTransaction: /slotgate neither sends nor simulates/,
  blockNotifications: /use slotSubscribe/,
  programNotifications: /use accountSubscribe/,
  slotsUpdatesNotifications: /use slotSubscribe/,
  voteNotifications: /use rootSubscribe/,
};

/** Returns the methods that a package of kit declares, by its declaration files. */
function methodsOf(name: string): readonly string[] {
  const files = readdirSync(`${dirname(requireOfKit.resolve(name))}/types`);
  return files
    .map((file) => file.replace(/\.d\.ts$/, '').replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase()))
    .filter((method) => /^(get|is|minimum|request|send|simulate)\w+$|^\w+Notifications$/.test(method));
}

/** A package that kit uses. */
const requireOfKit = createRequire(createRequire(import.meta.url).resolve('@solana/kit'));
const {
  createBlockHeightExceedencePromiseFactory,
  createNonceInvalidationPromiseFactory,
  createRecentSignatureConfirmationPromiseFactory,
} = requireOfKit('@solana/transaction-confirmation');

const table = new OutcomeTable('kit');
/** A client by the names of its methods, which its types list one by one. */
type ByName<Pending> = Readonly<Record<string, (...args: readonly unknown[]) => Pending>>;
type Rpc = ByName<{ send(): Promise<unknown> }>;
type Subscriptions = ByName<{ subscribe(options: object): Promise<AsyncIterable<unknown>> }>;

t.test("each method of kit's RPC is answered as by the node, or refused with what to use", async (t) => {
  await untilCurrent(world);
  const open = (url: string): Rpc => createSolanaRpc(url) as unknown as Rpc;
  const [through, direct] = [open(`${gateway.url}/api/v1/rpc`), open(cluster.url)];
  const call = async (rpc: Rpc, method: string): Promise<unknown> => rpc[method]?.(...(ARGS[method] ?? [])).send();
  for (const method of methodsOf('@solana/rpc-api')) {
    const refusal = REFUSED[method];
    try {
      const got = await call(through, method);
      t.equal(refusal, undefined, `${method} is answered`);
      t.same(got, await call(direct, method), method);
      table.works(method);
    } catch (thrown) {
      if (refusal === undefined) throw thrown;
      t.match(thrown, { message: refusal }, method);
      table.refused(method, thrown);
    }
  }
});

t.test("each of kit's subscriptions is notified, or refused with what to use", async (t) => {
  const through = createSolanaRpcSubscriptions(
    `${gateway.url.replace('http', 'ws')}/api/v1/rpc`,
  ) as unknown as Subscriptions;
  for (const method of methodsOf('@solana/rpc-subscriptions-api')) {
    const end = new AbortController();
    const refusal = REFUSED[method];
    try {
      const pending = through[method]?.(...(ARGS[method] ?? []));
      const notifications = await pending?.subscribe({ abortSignal: end.signal });
      let isNotified = false;
      void notifications?.[Symbol.asyncIterator]()
        .next()
        .then(() => {
          isNotified = true;
        });
      for (let steps = 0; !isNotified && steps < 100; steps++) await step();
      t.ok(isNotified, method);
      t.equal(refusal, undefined, `${method} is offered`);
      table.works(method);
    } catch (thrown) {
      if (refusal === undefined) throw thrown;
      t.match(`${thrown instanceof Error ? thrown.message : thrown}`, refusal, method);
      table.refused(method, thrown);
    }
    end.abort();
  }
});

/** An account with a nonce, which a durable transaction names in place of a blockhash. */
function putNonce(nonce: number): string {
  const data = new Uint8Array(80);
  data[0] = 1; // the version
  data[4] = 1; // initialized
  data.fill(nonce, 40, 72);
  const nonceAccount = addressFromByte(120);
  cluster.chain.setAccount(nonceAccount, { lamports: 2_000_000n, owner: SYSTEM_PROGRAM, executable: false, data });
  return nonceAccount;
}

const failureOf = (pending: Promise<unknown>): Promise<unknown> => pending.catch((reason: unknown) => reason);

/** Steps until a promise is settled. */
const stepped = <T>(pending: Promise<T>): Promise<T> => untilSettled(pending, step);

t.test("kit's strategies of confirmation end as over a node: landed, expired, new nonce, aborted", async (t) => {
  const http = `${gateway.url}/api/v1/rpc`;
  const connections = {
    rpc: createSolanaRpc(http),
    rpcSubscriptions: createSolanaRpcSubscriptions(http.replace('http', 'ws')),
  };
  const commitment = 'confirmed';
  const { signal: abortSignal } = new AbortController();
  const confirm = createRecentSignatureConfirmationPromiseFactory(connections);
  const landed = toSignature(signature);
  await stepped(confirm({ signature: landed, commitment, abortSignal }));

  const exceed = createBlockHeightExceedencePromiseFactory(connections);
  const lastValidBlockHeight = BigInt(cluster.chain.slot('confirmed')) + 3n;
  const expired = await failureOf(stepped(exceed({ lastValidBlockHeight, commitment, abortSignal })));
  t.match(expired, { context: { __code: SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED } }, 'a blockhash expires');

  const nonceAccountAddress = toAddress(putNonce(7));
  await step(4);
  await untilCurrent(world);
  const invalidate = createNonceInvalidationPromiseFactory(connections);
  const currentNonceValue = bs58.encode(new Uint8Array(32).fill(7));
  const invalid = stepped(invalidate({ nonceAccountAddress, currentNonceValue, commitment, abortSignal }));
  await step(4);
  putNonce(8);
  t.match(await failureOf(invalid), { context: { __code: SOLANA_ERROR__INVALID_NONCE } }, 'a nonce is used');

  const end = new AbortController();
  const unknown = toSignature('1'.repeat(64));
  const waiting = stepped(confirm({ signature: unknown, commitment, abortSignal: end.signal }));
  const read = connections.rpc.getSlot().send({ abortSignal: end.signal });
  end.abort();
  await t.rejects(read, { name: 'AbortError' });
  await t.rejects(waiting, { name: 'AbortError' });
  t.ok(await connections.rpc.getSlot().send(), 'others go on');
});

t.test('calls share a connection, and an answer is the same for a client that accepts gzip', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const post = async (method: string, params: readonly unknown[], headers: OutgoingHttpHeaders) => {
    const call = request(`${gateway.url}/api/v1/rpc`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const [answer] = await once(call, 'response');
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part);
    return { headers: answer.headers, reused: call.reusedSocket, body: Buffer.concat(parts) };
  };
  const params = [Number(block), { maxSupportedTransactionVersion: 0 }];
  const plain = await post('getBlock', params, {});
  const zipped = await post('getBlock', params, { 'accept-encoding': 'gzip' });
  t.ok(zipped.reused);
  t.equal(plain.headers['content-encoding'], undefined);
  const isZipped = zipped.headers['content-encoding'] === 'gzip';
  t.ok((isZipped ? gunzipSync(zipped.body) : zipped.body).equals(plain.body));
  const head = await fetch(`${gateway.url}/api/v1/health`, { method: 'HEAD' });
  t.match([head.status, await head.text()], [200, '']);
});

t.test('all methods of kit are tried', async (t) => {
  const methods = ['@solana/rpc-api', '@solana/rpc-subscriptions-api'].flatMap(methodsOf);
  t.ok(methods.length > 55);
  t.same(table.missing(methods), []);
  table.print(t);
});
