import { address, getSolanaErrorFromTransactionError, type Instruction } from '@solana/web3.js';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import bs58 from 'bs58';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Account } from '../../../src/localnet/bank/svm-account.ts';
import { describeTransactionError, type TransactionError } from '../../../src/localnet/bank/svm-transaction-error.ts';
import { amountScaleOf } from '../../../src/localnet/bank/token-state.ts';
import { JsonRpcError } from '../../../src/localnet/encode/json-rpc-error.ts';
import { parseAccountData } from '../../../src/localnet/encode/parse-account-data.ts';
import { sortKeys } from '../../../src/localnet/encode/sort-keys.ts';
import { toUiTokenAmount } from '../../../src/localnet/encode/ui-token-amount.ts';
import { encodeParsedInstruction } from '../../../src/localnet/encode/ui-transaction.ts';
import { callMethod } from '../../../src/localnet/rpc/call-method.ts';
import { InjectedFaults } from '../../../src/localnet/rpc/injected-faults.ts';
import { handleJsonRpc } from '../../../src/localnet/rpc/json-rpc-handler.ts';
import type { NodeContext } from '../../../src/localnet/rpc/method-handler.ts';
import { buildTransaction } from '../../../src/localnet/traffic/build-transaction.ts';
import { COINS, POOL, TREASURY, WALLETS, WHALE } from '../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../src/localnet/traffic/faucet.ts';
import { startTraffic } from '../../../src/localnet/traffic/traffic-generator.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import {
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V2,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM as SYSTEM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/shared/domain/well-known-addresses.ts';
import { wrapInZstdFrame } from '../../../src/shared/domain/zstd-frame.ts';
import { readTables } from '../../../src/shared/runtime/files/read-tables.ts';
import type { AmountScale } from '../../../src/transactions/accounts/ui-amount.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { readTable } from '../../support/read-table.ts';
import { rpcPost, rpcRequest } from '../../support/rpc-request.ts';
import { startTestCluster } from '../../support/test-cluster.ts';
import { responseDifferences, shapeDifferences, shapeOf } from './json-shape.ts';
import { RECORDED_ANSWERS, RECORDED_NAMES, RECORDED_PUBSUB, type RecordedAnswer } from './recorded-conversation.ts';
import { startReplayedCluster } from './replayed-cluster.ts';
import { createTestChain } from './test-chain.ts';

t.test('json-rpc-handler', async (t) => {
  /** Answers for a node with three methods. */
  function answer(text: string, defects: unknown[] = []): string {
    const call = (method: string, params: unknown): unknown => {
      if (method === 'echo') return params;
      if (method === 'refuse') throw new JsonRpcError(-32016, 'too early', { contextSlot: 5 });
      throw new TypeError('a defect');
    };
    return handleJsonRpc(text, call, (thrown) => defects.push(thrown));
  }

  t.test('a batch is answered in order, without its notifications', async (t) => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'echo', params: [{ b: 1, a: [2] }] },
      { jsonrpc: '2.0', method: 'echo' },
      { jsonrpc: '2.0', id: 'two', method: 'refuse' },
    ];
    t.equal(
      answer(JSON.stringify(batch)),
      '[{"jsonrpc":"2.0","result":[{"a":[2],"b":1}],"id":1},' +
        '{"jsonrpc":"2.0","error":{"code":-32016,"message":"too early","data":{"contextSlot":5}},"id":"two"}]',
    );
    t.equal(answer('[{"jsonrpc":"2.0","method":"echo"}]'), '', 'no response');
  });

  t.test('an invalid entry with an id is refused alone, one without an id fails the batch', async (t) => {
    const good = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}';
    t.equal(
      answer(`[${good},{"id":2}]`),
      '[{"jsonrpc":"2.0","result":[],"id":1},{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":2}]',
    );
    for (const bad of ['1', 'null', '[]', '{"jsonrpc":"2.0","id":-1,"method":"echo"}', '{"id":true,"method":"echo"}']) {
      t.equal(
        answer(`[${good},${bad}]`),
        '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}',
        bad,
      );
    }
  });

  t.test('a defect of a method is an internal error for its caller, and is reported', async (t) => {
    const defects: unknown[] = [];
    const text = answer('{"jsonrpc":"2.0","id":1,"method":"break"}', defects);
    t.equal(text, '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}');
    t.match(defects, [new TypeError('a defect')]);
  });
});

t.test('rpc-errors', async (t) => {
  const [alice, bob = alice] = WALLETS;
  const ED25519 = 'Ed25519SigVerify111111111111111111111111111';
  const SECP256R1 = 'Secp256r1SigVerify1111111111111111111111111';

  async function start(t: Test, skipEvery: number) {
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, new Uint8Array(32).fill(7), { transactionsPerSlot: 0, skipEvery });
    t.teardown(() => cluster.close());
    const { chain, url } = cluster;
    const produceBlocks = (slots: number): void => {
      for (let i = 0; i < slots; i++) chain.produceBlock();
    };
    const build = (instructions: readonly Instruction[], blockhash = chain.latestBlockhash('processed').hash) =>
      buildTransaction({ payer: alice, instructions, blockhash });
    const transfer = (amount: bigint, blockhash?: string): Uint8Array =>
      build([getTransferSolInstruction({ source: alice, destination: bob.address, amount })], blockhash);
    const send = (bytes: Uint8Array, options: object = {}) =>
      rpcRequest(url, 'sendTransaction', [Buffer.from(bytes).toString('base64'), { encoding: 'base64', ...options }]);
    return { ...cluster, clock, produceBlocks, build, transfer, send };
  }

  t.test('the memos of both programs are listed, and bytes that are no text as agave lists them', async (t) => {
    const { chain, url, produceBlocks, build } = await start(t, 0);
    const memo = (program: string, data: Uint8Array): Instruction => ({ programAddress: address(program), data });
    chain.send(build([memo(MEMO_V1_PROGRAM, Buffer.from('old')), memo(MEMO_PROGRAM, Buffer.from('é'))]));
    chain.send(build([memo(MEMO_PROGRAM, Uint8Array.of(0xff, 0xfe))]));
    produceBlocks(40);
    const rows = await rpcRequest<readonly { memo: string }[]>(url, 'getSignaturesForAddress', [
      alice.address,
      { limit: 2 },
    ]);
    t.same(pluck(rows, 'memo'), ['[2] (unparsable)', '[3] old; [2] é']);
  });

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
    t.equal(await rpcRequest(url, 'getBlockTime', [processed]), chain.block(processed)?.blockTime);
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
    const { chain, url, produceBlocks, build, transfer, send } = await start(t, 0);
    produceBlocks(1);
    const balance = () =>
      rpcRequest<{ value: number }>(url, 'getBalance', [alice.address, { commitment: 'processed' }]);
    const before = (await balance()).value;
    const overdraft = transfer(10n ** 18n);
    await t.rejects(send(overdraft), {
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, fee: 5000, unitsConsumed: 150, preBalances: null },
    });
    await t.rejects(send(build([{ programAddress: deriveKeypair('nobody').address }])), {
      code: -32002,
      data: { err: 'ProgramAccountNotFound', loadedAddresses: null },
    });
    produceBlocks(1);
    t.equal((await balance()).value, before);
    await send(overdraft, { skipPreflight: true });
    produceBlocks(1);
    t.equal((await balance()).value, before - 5000, 'sent without preflight, it pays');
    const slot = chain.slot('processed');
    produceBlocks(2);
    const config = { commitment: 'confirmed', rewards: false };
    const block = await rpcRequest(url, 'getBlock', [slot, config]);
    t.match(block, { transactions: [{ meta: { rewards: null } }] }, 'null, unlike those of the block');
  });

  t.test('a transaction that cannot land is refused with the reason', async (t) => {
    const { chain, url, produceBlocks, build, transfer, send } = await start(t, 0);
    produceBlocks(1);
    const stale = transfer(1n, WHALE.address); // the system program's address is not a block's hash
    await t.rejects(send(stale), { code: -32002, message: 'Transaction simulation failed: Blockhash not found' });
    const forged = transfer(1n);
    forged.fill(1, 1, 65);
    await t.rejects(send(forged), {
      code: -32002,
      message: 'Transaction simulation failed: Transaction did not pass signature verification',
      data: { err: 'SignatureFailure', fee: null },
    });
    await t.rejects(send(Uint8Array.of(1, 2, 3)), { code: -32602 });
    const bytes = transfer(1n);
    const keysAt = 65 + 3; // behind a signature and the header of the message
    const lengthInTwoBytes = Buffer.concat([bytes.subarray(0, keysAt), Buffer.of(0x83, 0), bytes.subarray(keysAt + 1)]);
    t.equal(bytes[keysAt], 3);
    await t.rejects(send(lengthInTwoBytes), { code: -32602, message: /failed to deserialize/ }, 'LiteSVM would abort');
    await t.rejects(rpcRequest(url, 'sendTransaction', ['not base58: 0OIl']), { code: -32602 });
    const twice = transfer(2n);
    const signature = await send(twice);
    await t.rejects(send(twice), {
      code: -32002,
      message: /This transaction has already been processed/,
    });
    t.equal(await send(twice, { skipPreflight: true }), signature, 'a node does not know what the leader drops');
    t.ok(await send(stale, { skipPreflight: true, minContextSlot: chain.slot('processed') }));
    t.ok(await send(forged, { skipPreflight: true }));
    await t.rejects(send(lengthInTwoBytes, { skipPreflight: true }), { code: -32602 });
    const unsound = transfer(1n).fill(0, 1, 65);
    const programAt = keysAt + 1 + 3 * 32 + 32 + 1; // behind the keys, the blockhash and the number of instructions
    t.equal(unsound[programAt], 2);
    unsound[programAt] = 9;
    const failure = {
      code: -32602,
      message: 'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
    };
    await t.rejects(send(unsound), failure, 'before its signatures are verified');
    await t.rejects(send(unsound, { skipPreflight: true }), failure);
    const message = Buffer.from(unsound.subarray(65)).toString('base64');
    await t.rejects(rpcRequest(url, 'getFeeForMessage', [message]), { code: -32602 });
    await t.rejects(send(transfer(3n), { minContextSlot: chain.slot('processed') + 9 }), { code: -32016 });
    const beggar = deriveKeypair('beggar');
    const begging = getTransferSolInstruction({ source: beggar, destination: bob.address, amount: 1n });
    const { hash: blockhash } = chain.latestBlockhash('processed');
    await t.rejects(send(buildTransaction({ payer: beggar, instructions: [begging], blockhash })), {
      message: 'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
    });
    const alms = getTransferSolInstruction({ source: alice, destination: beggar.address, amount: 5n });
    await t.rejects(send(build([alms])), {
      message: /Transaction results in an account \(1\) with insufficient funds for rent$/,
    });
    const prices = [1n, 2n].map((microLamports) => getSetComputeUnitPriceInstruction({ microLamports }));
    const refusal = {
      code: -32602,
      message: 'invalid transaction: Transaction contains a duplicate instruction (1) that is not allowed',
    };
    await t.rejects(send(build(prices)), refusal);
    await t.rejects(send(build(prices), { skipPreflight: true }), refusal);
  });

  t.test("each error has the text of a node, which kit's messages repeat", async (t) => {
    const texts = (error: TransactionError): [ours: string, ofKit: string] => {
      const { message } = getSolanaErrorFromTransactionError(
        error as Parameters<typeof getSolanaErrorFromTransactionError>[0],
      );
      return [
        describeTransactionError(error).replace('Error processing Instruction 0: ', ''),
        message.replace(' (instruction #1)', ''),
      ];
    };
    const names = readTables(new URL('../../../src/localnet/bank/data/svm-errors.tsv', import.meta.url), 'enum');
    const [transaction = [], instruction = []] = names.map(({ rows }) => rows.map(([name = '']) => name));
    const unknownToKit = ['ProgramCacheHitMaxLimit', 'CommitCancelled'];
    const errors: readonly TransactionError[] = [
      ...transaction.filter((name) => !unknownToKit.includes(name)),
      ...instruction.map((name) => ({ InstructionError: [0, name] }) as const),
      { DuplicateInstruction: 3 },
      { InsufficientFundsForRent: { account_index: 4 } },
      { ProgramExecutionTemporarilyRestricted: { account_index: 5 } },
    ];
    t.equal(errors.length, 89);
    for (const error of errors) {
      const [ours, ofKit] = texts(error);
      t.equal(ours.toLowerCase(), ofKit.toLowerCase()); // kit begins each with a capital letter
    }
  });

  t.test('a simulation says what a transaction would do, and does nothing', async (t) => {
    const { url, chain, produceBlocks, build, transfer, send } = await start(t, 0);
    produceBlocks(1);
    const simulate = async (bytes: Uint8Array, options: object = {}) => {
      const params = [Buffer.from(bytes).toString('base64'), { encoding: 'base64', ...options }];
      return (await rpcRequest<{ value: Record<string, unknown> }>(url, 'simulateTransaction', params)).value;
    };
    const lamportsOf = ({ address }: { readonly address: string }): number =>
      Number(chain.account(address, 'processed')?.lamports);
    const before = [alice, bob].map(lamportsOf);
    const addresses = [bob.address, WHALE.address];
    const good = await simulate(transfer(7n), { sigVerify: true, innerInstructions: true, accounts: { addresses } });
    t.match(good, { err: null, unitsConsumed: 150, fee: 5000, innerInstructions: [], replacementBlockhash: null });
    t.match(good['accounts'], [{ lamports: lamportsOf(bob) + 7 }, { owner: SYSTEM }]);
    t.match(good['postBalances'], [lamportsOf(alice) - 5007, lamportsOf(bob) + 7]);
    const failed = await simulate(transfer(10n ** 18n), { accounts: { addresses } });
    t.match(failed, { err: { InstructionError: [0, { Custom: 1 }] }, fee: 5000, accounts: [null, null] });
    t.match(failed['postBalances'], [lamportsOf(alice) - 5000, lamportsOf(bob)]);
    t.ok(Array.isArray(failed['logs']) && failed['logs'].length > 0);
    const stale = transfer(1n, WHALE.address);
    t.match(await simulate(stale), { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 });
    t.match(await simulate(stale, { replaceRecentBlockhash: true, commitment: 'processed' }), {
      err: null,
      replacementBlockhash: { blockhash: chain.latestBlockhash('processed').hash },
    });
    const forged = transfer(1n).fill(1, 1, 65);
    t.match(await simulate(forged), { err: null, accounts: null }, 'signatures are verified on request only');
    t.match(await simulate(forged, { sigVerify: true }), { err: 'SignatureFailure', preBalances: null });
    t.match(await simulate(transfer(1n).fill(0, 1, 65)), { err: null }, 'none is needed');
    const refused = (options: object) => t.rejects(simulate(transfer(1n), options), { code: -32602 });
    await refused({ sigVerify: true, replaceRecentBlockhash: true });
    await refused({ accounts: { addresses: Array(4).fill(bob.address) } });
    await refused({ accounts: { addresses, encoding: 'base58' } });
    const noSigner = transfer(1n);
    noSigner[65] = 0; // the first byte of the message
    await t.rejects(simulate(noSigner), { code: -32602 });
    produceBlocks(1);
    t.strictSame([alice, bob].map(lamportsOf), before);
    const failing = [
      { programAddress: address(SYSTEM), data: Uint8Array.of(99, 0, 0, 0) },
      { programAddress: address(ED25519), data: Uint8Array.of(1, 0) },
      { programAddress: address(COMPUTE_BUDGET_PROGRAM), data: Uint8Array.of(99) }, // found before anything runs
    ];
    const fees = await Promise.all(failing.map(async (each) => (await simulate(build([each])))['fee']));
    t.strictSame(fees, [5000, 10_000, null]);
    for (const each of failing) await send(build([each]), { skipPreflight: true });
    produceBlocks(1);
    t.equal(lamportsOf(alice), Number(before[0]) - 15_000, 'they are charged so');
  });

  t.test('what a node says of its leaders, its richest accounts and its snapshots', async (t) => {
    const { url, chain } = await start(t, 0);
    const { identity, slotsPerEpoch } = chain;
    const schedule = await rpcRequest<Record<string, number[]>>(url, 'getLeaderSchedule', []);
    t.equal(schedule[identity]?.length, slotsPerEpoch);
    t.strictSame(await rpcRequest(url, 'getLeaderSchedule', [null, { identity: alice.address }]), {});
    t.equal(await rpcRequest(url, 'getLeaderSchedule', [chain.slot('finalized') + 2 * slotsPerEpoch]), null);
    const { value } = await rpcRequest<{ value: { address: string }[] }>(url, 'getLargestAccounts', []);
    t.equal(value.length, 20);
    t.ok(value.some(({ address }) => address === WHALE.address));
    await t.rejects(rpcRequest(url, 'getHighestSnapshotSlot', []), { code: -32008 });
    t.match(await rpcRequest(url, 'getInflationGovernor', []), { initial: 0, terminal: 0 });
    t.strictSame(await rpcRequest(url, 'getBlockCommitment', [1]), { commitment: null, totalStake: 0 });
    t.equal(await rpcRequest(url, 'getMaxShredInsertSlot', []), chain.slot('processed'));
    t.equal(await rpcRequest(url, 'getMaxRetransmitSlot', []), 0);
  });

  t.test('the fee for a message is known while its blockhash is valid', async (t) => {
    const { chain, url, produceBlocks } = await start(t, 0);
    produceBlocks(1);
    const message = (blockhash: string): string => {
      const transfer = getTransferSolInstruction({ source: alice, destination: bob.address, amount: 1n });
      const wire = buildTransaction({ payer: alice, instructions: [transfer], blockhash });
      return Buffer.from(wire.subarray(65)).toString('base64'); // behind the count and the one signature
    };
    const fee = async (text: string) =>
      (await rpcRequest<{ value: number | null }>(url, 'getFeeForMessage', [text])).value;
    t.equal(await fee(message(chain.latestBlockhash('processed').hash)), 5000);
    t.equal(await fee(message(WHALE.address)), null);

    const hash = chain.latestBlockhash('processed').hash;
    const programs = [SYSTEM, LOADER_V2, MEMO_PROGRAM, STAKE_PROGRAM, ED25519, SECP256R1];
    const price = getSetComputeUnitPriceInstruction({ microLamports: 1_500_000 });
    const units = (wanted: number) => getSetComputeUnitLimitInstruction({ units: wanted });
    const bodies = [
      ...programs.map((program) => [{ programAddress: address(program), data: Uint8Array.of(3, 1) }]),
      Array(9).fill({ programAddress: address(MEMO_PROGRAM), data: Uint8Array.of(65) }),
      [units(77)],
      [units(10_000_000)],
    ];
    for (const body of bodies) {
      const wire = buildTransaction({ payer: alice, instructions: [price, ...body], blockhash: hash });
      const known = await fee(Buffer.from(wire.subarray(65)).toString('base64'));
      t.equal(known, Number(chain.send(wire).fee), `${body[0]?.programAddress}`);
    }
  });

  t.test('a range of blocks ends with the newest one, and a number beyond its bounds is refused', async (t) => {
    const { chain, url, produceBlocks } = await start(t, 0);
    produceBlocks(40);
    const newest = chain.slot('finalized');
    const blocks = (...params: readonly unknown[]) => rpcRequest(url, 'getBlocks', params);
    t.strictSame(await blocks(newest - 1, newest + 600_000), [newest - 1, newest]);
    t.strictSame(await blocks(0), [], 'without an end, 500,000 slots');
    t.strictSame(await blocks(newest + 1), []);
    await t.rejects(blocks(0, newest), { code: -32602, message: /^Slot range too large/ });
    const later = { minContextSlot: newest + 1 };
    await t.rejects(blocks(newest, null, later), { code: -32016 });
    await t.rejects(blocks(newest, later), { code: -32016 });
    t.strictSame(await blocks(newest, later, {}), [newest], 'of two configs the last alone counts');
    await t.rejects(rpcRequest(url, 'getBlocksWithLimit', [newest, 1, later]), { code: -32016 });

    const rent = (bytes: number) => rpcRequest(url, 'getMinimumBalanceForRentExemption', [bytes]);
    t.ok(await rent(10 * 1024 * 1024));
    await t.rejects(rent(10 * 1024 * 1024 + 1), { code: -32600 });
    await t.rejects(rent(2 ** 64), { code: -32602, message: /invalid type: floating point/ });
    await t.rejects(rpcRequest(url, 'requestAirdrop', [bob.address, 2 ** 64]), { code: -32602 });
  });

  t.test("a filter's bytes are a list, or text of its encoding", async (t) => {
    const { url } = await start(t, 0);
    const find = (bytes: unknown, encoding?: string) =>
      rpcRequest<unknown[]>(url, 'getProgramAccounts', [
        TOKEN_PROGRAM,
        { filters: [{ memcmp: { offset: 0, bytes, encoding } }], dataSlice: { offset: 0, length: 0 } },
      ]);
    const { mint: dollar } = COINS[0];
    const mint = bs58.decode(dollar.address);
    const found = await find(dollar.address);
    t.ok(found.length > 10);
    t.strictSame(await find([...mint], 'bytes'), found, "as Rust's client sends them");
    t.strictSame(await find(Buffer.from(mint).toString('base64'), 'base64'), found);
    const refused: [bytes: unknown, encoding?: string][] = [
      ['!!!', 'base64'],
      ['0OIl', 'base58'],
      [[1, 256], 'bytes'],
      [Buffer.alloc(129).toString('base64'), 'base64'],
    ];
    for (const [bytes, encoding] of refused) await t.rejects(find(bytes, encoding), { code: -32602 }, String(bytes));
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
});

t.test('token-methods', async (t) => {
  const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
  const OWNERS = [...WALLETS, TREASURY, POOL, deriveKeypair('an owner without accounts')].map(({ address }) => address);

  interface Entry {
    readonly pubkey: string;
    readonly account: { readonly data: readonly [string, string]; readonly owner: string };
  }

  /** Starts a chain with traffic, and records which accounts it ever changed. */
  async function startNode() {
    const { clock, chain } = await createTestChain('token methods', { skipEvery: 7 });
    const faucet = createFaucet(chain);
    await startTraffic(chain, { transactionsPerSlot: 8, seed: 3 });
    const changed = new Set<string>();
    chain.onSlot(({ processed }) => {
      for (const address of processed.changedAccounts) changed.add(address);
    });
    chain.produceBlock();
    const node: NodeContext = { chain, faucet, faults: new InjectedFaults(), clock, address: '127.0.0.1:1' };
    return { chain, node, changed };
  }

  t.test('over forks and at each commitment, lists of token accounts are those of a scan of all', async (t) => {
    const { chain, node, changed } = await startNode();
    const dataOf = ({ account }: Entry): Buffer => Buffer.from(account.data[0], 'base64');
    const hasAt = (entry: Entry, offset: number, address: string): boolean =>
      dataOf(entry)
        .subarray(offset, offset + 32)
        .equals(bs58.decode(address));
    const call = (method: string, ...params: unknown[]): unknown => callMethod(node, method, params);
    let compared = 0;
    const check = (): void => {
      for (const commitment of COMMITMENTS) {
        const options = { encoding: 'base64', commitment };
        for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
          const all = call('getProgramAccounts', program, options) as Entry[];
          const scanned = [...changed].filter((address) => chain.account(address, commitment)?.owner === program);
          const listed = new Set(all.map(({ pubkey }) => pubkey));
          const unlistedOnes = scanned.filter((address) => !listed.has(address));
          t.same(unlistedOnes, [], 'a scan has no other accounts');
          t.same(pluck(all, 'pubkey'), [...listed].sort());
          const tokenAccounts = all.filter((entry) => dataOf(entry).length >= 165);
          for (const owner of OWNERS) {
            const { value } = call('getTokenAccountsByOwner', owner, { programId: program }, options) as {
              value: Entry[];
            };
            const wanted = tokenAccounts.filter((entry) => hasAt(entry, 32, owner));
            compared += wanted.length;
            if (JSON.stringify(value, spellBigInt) !== JSON.stringify(wanted, spellBigInt)) {
              t.same(value, wanted, `${owner} at ${commitment}`);
            }
          }
          for (const { mint, program: coinProgram } of COINS) {
            if (coinProgram !== program) continue;
            const holders = tokenAccounts.filter((entry) => hasAt(entry, 0, mint.address));
            const memcmp = { offset: 0, bytes: mint.address };
            const found = call('getProgramAccounts', program, { ...options, filters: [{ memcmp }] }) as Entry[];
            t.same(
              pluck(found, 'pubkey'),
              holders.map(({ pubkey }) => pubkey),
            );
            const { value: largest } = call('getTokenLargestAccounts', mint.address, options) as {
              value: { readonly address: string; readonly amount: string }[];
            };
            const amounts = holders.map((entry) => dataOf(entry).readBigUInt64LE(64));
            t.same(
              pluck(largest, 'amount'),
              amounts
                .sort((a, b) => (a < b ? 1 : -1))
                .slice(0, 20)
                .map(String),
            );
          }
        }
      }
    };
    const script = fc.array(
      fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.constant('fork') }),
      {
        minLength: 3,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(script, (steps) => {
        for (const step of steps) {
          if (step === 'fork') chain.fork();
          else for (let block = 0; block <= Number(step); block++) chain.produceBlock();
        }
        check();
      }),
      { numRuns: 6 },
    );
    t.ok(compared > 1000, `${compared} accounts were compared`);
  });

  const spellBigInt = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);
});

t.test('json-parsed', async (t) => {
  /** Times at which the node answered and at which it made the newest final block, in Unix seconds. */
  const NOW = 1_795_234_176;
  const FINAL = 1_795_234_166;

  const recordedResponse = (note: string): string =>
    RECORDED_ANSWERS.find((answer) => answer.note === note)?.response ?? '';

  function recordedAccount(note: string): Account {
    const { data, owner, executable } = JSON.parse(recordedResponse(`${note}, base64`)).result.value;
    return { lamports: 1n, owner, executable, data: Buffer.from(data[0], 'base64') };
  }

  const { mint = '', mint22 = '' } = RECORDED_NAMES;
  const mints = new Map([
    [mint, recordedAccount('mint')],
    [mint22, recordedAccount('token-2022 mint with extensions')],
  ]);
  const scale = (mint: string): AmountScale | undefined => {
    const account = mints.get(mint);
    return account && amountScaleOf(account, NOW);
  };

  t.test('an account is encoded exactly as the node encoded the same bytes', async (t) => {
    const notes = [
      'mint',
      'token-2022 mint with extensions',
      'token account with delegate',
      'token account',
      'token-2022 account',
      'nonce account',
      'stake account',
      'lookup table',
    ];
    for (const note of notes) {
      const encoded = /"data":(.*),"executable"/.exec(recordedResponse(`${note}, jsonParsed`))?.[1];
      t.equal(toJson(sortKeys(parseAccountData('', recordedAccount(note), scale))), encoded, note);
    }
  });

  t.test('an interest-bearing amount is scaled to the time of the bank', async (t) => {
    const account = recordedAccount('token-2022 mint with extensions');
    const supply = toUiTokenAmount(1_000_000_000_000n, amountScaleOf(account, FINAL) ?? { decimals: 0 });
    t.ok(recordedResponse('mint22').length > 0);
    t.equal(supply.uiAmountString, '1000.000019964', 'as getTokenSupply said');
  });

  t.test('an amount is exact as text, and only its float is rounded', async (t) => {
    t.equal(
      toJson(sortKeys(toUiTokenAmount(9_007_199_254_740_993n, { decimals: 6 }))),
      '{"amount":"9007199254740993","decimals":6,"uiAmount":9007199254.740992,"uiAmountString":"9007199254.740993"}',
    );
    const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 18 }));
    fc.assert(
      fc.property(amounts, ([amount, decimals]) => {
        const [whole = '', fraction = ''] = toUiTokenAmount(amount, { decimals }).uiAmountString.split('.');
        return BigInt(whole + fraction.padEnd(decimals, '0')) === amount && !fraction.endsWith('0');
      }),
    );
  });

  interface CompiledInstruction {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
    readonly data: string;
    readonly stackHeight: number;
  }

  interface RecordedMeta {
    readonly meta: { readonly innerInstructions: readonly { readonly instructions: readonly CompiledInstruction[] }[] };
  }

  t.test('an instruction is encoded as the node encoded the same bytes', async (t) => {
    const [raw, encoded] = ['full json', 'full jsonParsed'].map(
      (note) => JSON.parse(recordedResponse(note)).result.transactions.at(-1), // the first transaction is a vote
    );
    const { accountKeys, instructions } = raw.transaction.message;
    const inner = ({ meta }: RecordedMeta): readonly CompiledInstruction[] =>
      meta.innerInstructions.flatMap(({ instructions }) => instructions);
    const parse = ({ programIdIndex, accounts, data, stackHeight }: CompiledInstruction): unknown =>
      encodeParsedInstruction({
        programId: accountKeys[programIdIndex],
        accounts: accounts.map((index) => accountKeys[index]),
        data: bs58.decode(data),
        stackHeight,
      });
    const expected = [...encoded.transaction.message.instructions, ...inner(encoded)];
    t.ok(expected.length > 4);
    const parsed = [...instructions, ...inner(raw)].map(parse);
    t.strictSame(JSON.parse(toJson(parsed)), expected);
  });

  t.test('an account or instruction of any bytes is encoded without an error', async (t) => {
    const owners = [
      '11111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
      'AddressLookupTab1e1111111111111111111111111',
      'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
      'Stake11111111111111111111111111111111111111',
      'BPFLoaderUpgradeab1e11111111111111111111111',
      'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    ];
    const whole = recordedAccount('token-2022 mint with extensions').data;
    const damaged = fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length)).map(([at, byte, end]) =>
      Uint8Array.from(whole)
        .fill(byte, at, at + 1)
        .subarray(0, end),
    );
    const data = fc.oneof(fc.uint8Array({ maxLength: 400 }), damaged);
    fc.assert(
      fc.property(fc.constantFrom(...owners), data, fc.array(fc.constantFrom(...owners)), (owner, data, accounts) => {
        toJson(parseAccountData('', { lamports: 1n, owner, executable: false, data }, scale));
        toJson(encodeParsedInstruction({ programId: owner, accounts, data, stackHeight: 1 }));
      }),
      { numRuns: 2000 },
    );
    t.pass('nothing was thrown');
  });
});

t.test('zstd-frame', async (t) => {
  t.test('an empty frame equals the one that a node sends', async (t) => {
    t.equal(Buffer.from(wrapInZstdFrame(new Uint8Array(0))).toString('base64'), 'KLUv/SAAAQAA');
  });

  t.test('the blocks of a frame contain the wrapped bytes', async (t) => {
    for (const size of [1, 255, 256, 131_072, 131_073, 300_000]) {
      const bytes = Uint8Array.from({ length: size }, (_, index) => index * 7);
      t.strictSame(Buffer.compare(unwrapZstdFrame(wrapInZstdFrame(bytes)), bytes), 0, `${size} bytes`);
    }
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => Buffer.compare(unwrapZstdFrame(wrapInZstdFrame(bytes)), bytes) === 0),
    );
  });

  /** Reads a frame of raw blocks as RFC 8878 describes it. */
  function unwrapZstdFrame(frame: Uint8Array): Buffer {
    const view = Buffer.from(frame);
    t.equal(view.readUInt32LE(0), 0xfd2fb528);
    const sizeBytes = view.readUInt8(4) === 0x20 ? 1 : 4;
    const size = view.readUIntLE(5, sizeBytes);
    const blocks: Buffer[] = [];
    for (let at = 5 + sizeBytes, last = false; !last; ) {
      const header = view.readUIntLE(at, 3);
      last = (header & 1) === 1;
      t.equal((header >> 1) & 3, 0, 'a raw block');
      blocks.push(view.subarray(at + 3, at + 3 + (header >> 3)));
      at += 3 + (header >> 3);
      if (last) t.equal(at, view.length, 'nothing follows the last block');
    }
    const whole = Buffer.concat(blocks);
    t.equal(whole.length, size);
    return whole;
  }
});

t.test('recorded-conversation', async (t) => {
  const replayed = await startReplayedCluster();
  t.teardown(() => replayed.close());

  /** Requests that were too long to record, by their note. */
  const { alice: ALICE } = RECORDED_NAMES;
  const OVERSIZED: Readonly<Record<string, { readonly method: string; readonly params: readonly unknown[] }>> = {
    '101 keys': { method: 'getMultipleAccounts', params: [Array(101).fill(ALICE)] },
    '129': { method: 'getRecentPrioritizationFees', params: [Array(129).fill(ALICE)] },
    '60 kB body': { method: 'getSlot', params: ['x'.repeat(60_000)] },
  };

  t.test('every recorded request over HTTP gets an answer of the same shape', async (t) => {
    const listed = readTable('unit/localnet/known-differences.txt');
    const met = new Set<string>();
    for (const recorded of RECORDED_ANSWERS) {
      const key = requestKeyOf(recorded);
      const long = OVERSIZED[recorded.note];
      const request = long === undefined ? recorded.request : JSON.stringify({ jsonrpc: '2.0', id: 1, ...long });
      const contentType = recorded.note === 'text/plain' ? 'text/plain' : 'application/json';
      const answer = await replayed.post(replayed.translate(request), contentType);
      const known = listed.filter(([request]) => request === key).map(([, difference]) => difference);
      if (known.length > 0) met.add(key);
      t.equal(answer.status, recorded.status, `${key}: status`);
      t.equal(answer.contentType, recorded.contentType, `${key}: content type`);
      t.strictSame(responseDifferences(recorded.response, answer.response), known, key);
    }
    t.same(met, new Set(listed.map(([request]) => request)), 'each known difference belongs to a recorded request');
  });

  t.test('every message to pubsub gets a reply of the recorded shape', async (t) => {
    const wanted = repliesById(recordedMessages());
    const found = repliesById(replayed.received);
    t.ok(wanted.size > 20);
    for (const [id, reply] of wanted) {
      t.strictSame(responseDifferences(reply, found.get(id) ?? 'no reply'), [], `reply to ${id}`);
    }
    t.strictSame([...found.keys()].sort(), [...wanted.keys()].sort(), 'and there is no other');
  });

  t.test('every kind of notification has the recorded shape', async (t) => {
    const wanted = notificationsBySubscription(recordedMessages());
    const found = notificationsBySubscription(replayed.received);
    t.ok(wanted.size > 8);
    for (const [subscription, texts] of wanted) {
      const received = found.get(subscription) ?? [];
      t.strictSame(shapeDifferences(shapeOf(`[${texts}]`), shapeOf(`[${received}]`)), [], subscription);
    }
  });

  /** Returns a recorded request as the table of differences spells it: with names instead of addresses. */
  function requestKeyOf({ request, note }: RecordedAnswer): string {
    const whole = !request.includes('…') && /^\{"jsonrpc":"2.0","id":1,"method":"(\w+)","params":(.*)\}$/.exec(request);
    if (!whole) return note;
    let params = whole[2] ?? '';
    for (const [name, here] of Object.entries(RECORDED_NAMES)) params = params.replaceAll(here, `<${name}>`);
    return `${whole[1]} ${params}`;
  }

  function recordedMessages(): string[] {
    return RECORDED_PUBSUB.flatMap((message) => ('in' in message ? [message.in] : []));
  }

  function repliesById(messages: readonly string[]): Map<string, string> {
    const replies = messages.filter((text) => !text.includes('"method"'));
    return new Map(replies.map((text) => [JSON.stringify(JSON.parse(text).id), text]));
  }

  /** Groups notifications by their subscribe request. */
  function notificationsBySubscription(messages: readonly string[]): Map<string, string[]> {
    const requests = new Map<number, string>();
    for (const [id, reply] of repliesById(messages)) {
      const { result } = JSON.parse(reply);
      if (typeof result === 'number') requests.set(result, `subscription ${id}`);
    }
    const found = new Map<string, string[]>();
    for (const text of messages.filter((text) => text.includes('"method"'))) {
      const { method, params } = JSON.parse(text);
      const key = `${requests.get(params.subscription)} ${method}`;
      found.set(key, [...(found.get(key) ?? []), text]);
    }
    return found;
  }
});
