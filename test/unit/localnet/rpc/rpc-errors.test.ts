import { getTransferSolInstruction } from '@solana-program/system';
import t, { type Test } from 'tap';
import { createGenesis } from '../../../../src/localnet/cluster-genesis.ts';
import { startInThreadCluster } from '../../../../src/localnet/in-thread-cluster.ts';
import { buildTransaction } from '../../../../src/localnet/traffic/build-transaction.ts';
import { WALLETS, WHALE } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { rpcPost, rpcRequest } from '../../../support/rpc-request.ts';
import { setupStore } from '../../../support/setup-store.ts';

const [alice, bob = alice] = WALLETS;

async function start(t: Test, skipEvery: number) {
  const clock = new ManualClock();
  const genesis = createGenesis(new Uint8Array(32).fill(7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery }, setupStore);
  t.teardown(() => cluster.close());
  const { chain, url } = cluster;
  const produceBlocks = (slots: number): void => {
    for (let i = 0; i < slots; i++) chain.produceBlock();
  };
  const transfer = (amount: bigint, blockhash = chain.latestBlockhash('processed').hash): Uint8Array =>
    buildTransaction({
      payer: alice,
      instructions: [getTransferSolInstruction({ source: alice, destination: bob.address, amount })],
      blockhash,
    });
  const send = (bytes: Uint8Array, options: object = {}) =>
    rpcRequest(url, 'sendTransaction', [Buffer.from(bytes).toString('base64'), { encoding: 'base64', ...options }]);
  return { ...cluster, clock, produceBlocks, transfer, send };
}

t.test('each reason for a missing block has its own code', async (t) => {
  const { chain, control, url, produceBlocks } = await start(t, 7);
  produceBlocks(60);
  const slots = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
  const [processed, finalized, first] = [chain.slot('processed'), chain.slot('finalized'), chain.firstAvailableSlot];
  const refusal = async (slot: number, commitment = 'confirmed') =>
    rpcRequest(url, 'getBlock', [slot, { commitment }]).then(
      () => undefined,
      (error) => error.code,
    );
  const skipped = slots(first, finalized).find((slot) => chain.isSkipped(slot)) ?? 0;
  const [oldSkipped = 0, oldBlock = 0] = [true, false].map((is) =>
    slots(first - 20, first).find((slot) => chain.isSkipped(slot) === is),
  );
  t.equal(await refusal(finalized, 'finalized'), undefined);
  t.equal(await refusal(skipped), -32007, 'skipped');
  t.equal(await refusal(oldSkipped), -32009, 'skipped before the oldest block');
  t.equal(await refusal(oldBlock), -32001, 'before the oldest block');
  t.equal(await refusal(processed), -32004, 'processed, not confirmed');
  t.equal(await refusal(finalized + 1, 'finalized'), -32004, 'confirmed, not finalized');
  t.equal(await refusal(processed + 1000), -32004, 'ahead');
  await control.withholdBlockStatus(2);
  t.equal(await refusal(chain.slot('confirmed')), -32014, 'not written down yet');
  t.equal(await refusal(finalized), undefined);
});

t.test('a node that lags far behind reports its lag', async (t) => {
  const { control, clock, url } = await start(t, 0);
  await control.lagBehind(150);
  clock.advance(100 * 400);
  t.equal(await rpcRequest(url, 'getHealth'), 'ok');
  clock.advance(100 * 400);
  await t.rejects(rpcRequest(url, 'getHealth'), { code: -32005, message: /^Node is behind by \d+ slots$/ });
  await control.lagBehind(0);
  t.equal(await rpcRequest(url, 'getHealth'), 'ok');
});

t.test('a transaction that would fail is refused before it costs a fee', async (t) => {
  const { url, produceBlocks, transfer, send } = await start(t, 0);
  produceBlocks(1);
  const balance = () => rpcRequest(url, 'getBalance', [alice.address, { commitment: 'processed' }]);
  const before = (await balance()).value;
  const overdraft = transfer(10n ** 18n);
  await t.rejects(send(overdraft), {
    code: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: { err: { InstructionError: [0, { Custom: 1 }] } },
  });
  produceBlocks(1);
  t.equal((await balance()).value, before);
  await send(overdraft, { skipPreflight: true });
  produceBlocks(1);
  t.equal((await balance()).value, before - 5000, 'sent without preflight, it pays');
});

t.test('a transaction that can not land is refused with the reason', async (t) => {
  const { url, produceBlocks, transfer, send } = await start(t, 0);
  produceBlocks(1);
  const stale = transfer(1n, WHALE.address); // the system program's address is not a block's hash
  await t.rejects(send(stale), { code: -32002, message: 'Transaction simulation failed: Blockhash not found' });
  const forged = transfer(1n);
  forged.fill(1, 1, 65);
  await t.rejects(send(forged), { code: -32003, message: 'Transaction signature verification failure' });
  await t.rejects(send(Uint8Array.of(1, 2, 3)), { code: -32602 });
  await t.rejects(rpcRequest(url, 'sendTransaction', ['not base58: 0OIl']), { code: -32602 });
  const twice = transfer(2n);
  t.equal(typeof (await send(twice)), 'string');
  await t.rejects(send(twice), {
    code: -32002,
    message: /This transaction has already been processed/,
  });
});

t.test('the fee for a message is known while its blockhash is valid', async (t) => {
  const { chain, url, produceBlocks } = await start(t, 0);
  produceBlocks(1);
  const message = (blockhash: string): string => {
    const transfer = getTransferSolInstruction({ source: alice, destination: bob.address, amount: 1n });
    const wire = buildTransaction({ payer: alice, instructions: [transfer], blockhash });
    return Buffer.from(wire.subarray(65)).toString('base64'); // behind the count and the one signature
  };
  const fee = async (text: string) => (await rpcRequest(url, 'getFeeForMessage', [text])).value;
  t.equal(await fee(message(chain.latestBlockhash('processed').hash)), 5000);
  t.equal(await fee(message(WHALE.address)), null);
});

t.test('lamports beyond a double are exact', async (t) => {
  const { chain, url, produceBlocks } = await start(t, 0);
  const { address: receiver } = deriveKeypair('receiver');
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"jsonrpc":"2.0","id":1,"method":"requestAirdrop","params":["${receiver}",9007199254740995]}`,
  });
  produceBlocks(1);
  t.equal(chain.account(receiver, 'processed')?.lamports, 9_007_199_254_740_995n);
  for (const [method, ...params] of [
    ['getBalance', WHALE.address],
    ['getAccountInfo', WHALE.address],
    ['getMultipleAccounts', [WHALE.address]],
  ]) {
    const text = await (await rpcPost(url, `${method}`, params)).text();
    t.match(text, /[^\d]9007199254740993[^\d]/, `${method}`);
  }
});

t.test('equal airdrops in one slot are all served', async (t) => {
  const { url, chain, produceBlocks } = await start(t, 0);
  const amount = 1_000_000_000;
  const before = chain.account(bob.address, 'processed')?.lamports ?? 0n;
  const signatures = await Promise.all([1, 2, 3].map(() => rpcRequest(url, 'requestAirdrop', [bob.address, amount])));
  t.equal(new Set(signatures).size, 3);
  produceBlocks(1);
  t.equal((chain.account(bob.address, 'processed')?.lamports ?? 0n) - before, 3n * BigInt(amount));
});

t.test('pages of any origin may call', async (t) => {
  const { url } = await start(t, 0);
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: 'http://localhost:3000' } });
  t.equal(preflight.status, 200);
  const header = (name: string) => preflight.headers.get(`access-control-allow-${name}`);
  t.strictSame(['origin', 'methods', 'headers'].map(header), ['*', 'OPTIONS, POST', '*']);
  const answer = await rpcPost(url, 'getSlot');
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  const refused = await fetch(url, { method: 'PUT' });
  t.equal(refused.status, 405);
});
