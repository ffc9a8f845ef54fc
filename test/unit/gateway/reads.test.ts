import { isDeepStrictEqual } from 'node:util';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { LogTopic } from '../../../src/gateway/live/logs/log-topic.ts';
import { readMissedLogs } from '../../../src/gateway/live/logs/read-missed-logs.ts';
import { RequestBudget } from '../../../src/gateway/live/request-budget.ts';
import { decodingTasks } from '../../../src/gateway/routes/decoding/decoding-tasks.ts';
import { member } from '../../../src/gateway/upstream/json/raw-json.ts';
import type { Mesh } from '../../../src/gateway/upstream/mesh/mesh.ts';
import { AccountBatcher, type AccountQuery } from '../../../src/gateway/upstream/reads/account-batcher.ts';
import { parseAccountInfo } from '../../../src/gateway/upstream/reads/account-info.ts';
import { readAccountValues } from '../../../src/gateway/upstream/reads/account-values.ts';
import { readBlockSummary, readFullBlock, summarizeBlock } from '../../../src/gateway/upstream/reads/block-summary.ts';
import { tallyTransactions } from '../../../src/gateway/upstream/reads/block-tally.ts';
import { readEncodedAccounts } from '../../../src/gateway/upstream/reads/encoded-accounts.ts';
import { blockExists, transactionExists } from '../../../src/gateway/upstream/reads/existence-checks.ts';
import { callWithMaxSupportedVersion } from '../../../src/gateway/upstream/reads/max-supported-version.ts';
import { MergedSignatures } from '../../../src/gateway/upstream/reads/merged-signatures.ts';
import { readMultipleAccounts } from '../../../src/gateway/upstream/reads/multiple-accounts.ts';
import { OverlappingReads } from '../../../src/gateway/upstream/reads/overlapping-reads.ts';
import { ProgramIdlCache } from '../../../src/gateway/upstream/reads/program-idls.ts';
import {
  cursorNotFound,
  readSignaturePage,
  type SignaturePage,
  type SignatureQuery,
} from '../../../src/gateway/upstream/reads/signature-page.ts';
import { mapRows, readTokenAccountsByOwner } from '../../../src/gateway/upstream/reads/token-accounts-by-owner.ts';
import {
  parseTransactionRecord,
  readTransactionRecord,
} from '../../../src/gateway/upstream/reads/transaction-record.ts';
import { TransactionRecords } from '../../../src/gateway/upstream/reads/transaction-records.ts';
import { readWrittenAccounts } from '../../../src/gateway/upstream/reads/written-accounts.ts';
import { contradictionOf, type Facts } from '../../../src/gateway/upstream/rpc/facts.ts';
import { RPC_ERROR_CODE } from '../../../src/gateway/upstream/rpc/rpc-error-code.ts';
import type {
  AgreeOptions,
  CallOptions,
  ConsensusData,
  RpcCaller,
  RpcResponse,
} from '../../../src/gateway/upstream/rpc/rpc-response.ts';
import type { Commitment } from '../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { toJson } from '../../../src/shared/domain/to-json.ts';
import { RequestCost, unitsOfUpstream } from '../../../src/shared/domain/units.ts';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import type { IdlAccount } from '../../../src/transactions/index.ts';
import { idlPlacesOf } from '../../../src/transactions/programs/program-idl.ts';
import { JITO_TIP_ACCOUNTS } from '../../../src/transactions/programs/tip-accounts.ts';
import { clockText } from '../../support/clock-text.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { connectScripted, notifyAll, startScriptedNode } from '../../support/mesh-harness.ts';
import { pluck } from '../../support/pluck.ts';
import { waitUntil } from '../../support/scripted-node.ts';
import { addressFromByte, rpcResultOf } from '../../support/token-account-fixtures.ts';

t.test('account-batcher', async (t) => {
  interface Call {
    readonly addresses: readonly string[];
    readonly config: { readonly commitment: string; readonly encoding: string; readonly minContextSlot?: number };
  }

  /** The Clock of a node at a slot, in the encoding of a read. */
  const clockAs = (encoding: string, slot: number): string =>
    encoding === 'jsonParsed'
      ? `{"data":{"parsed":{"info":{"epoch":0,"slot":${slot}},"type":"clock"},"program":"sysvar","space":40}}`
      : clockText(slot);

  /** Starts a node on which each account's balance is the number that its address ends in, at slot 7. */
  function open(
    failWhen: (call: Call) => GatewayError | undefined = () => undefined,
    clockOf = (encoding: string) => clockAs(encoding, 7),
  ) {
    const calls: Call[] = [];
    const options: CallOptions[] = [];
    const clock = new ManualClock();
    const mesh: Pick<Mesh, 'call'> = {
      async call(_, [addresses, config] = [], callOptions = {}) {
        if (callOptions.cost !== undefined) callOptions.cost.calls++;
        options.push(callOptions);
        const call = { addresses, config } as Call; // what AccountBatcher sends
        calls.push(call);
        const failure = failWhen(call);
        if (failure !== undefined) throw failure;
        const accounts = call.addresses.map((address) => {
          if (address === CLOCK_SYSVAR) return clockOf(call.config.encoding);
          return address === 'none' ? 'null' : `{"lamports":${address.slice(1)}}`;
        });
        const value = Buffer.from(`[${accounts.join(',')}]`);
        return { slot: 7, result: value, value };
      },
    };
    return { accounts: new AccountBatcher(mesh, { clock, tip: () => 10 }), clock, calls, options };
  }

  const notReached = new GatewayError('rpc_error', '-32016: Minimum context slot has not been reached', {
    status: 503,
    rpcCode: -32016,
  });

  const query = (address: string, more: Partial<AccountQuery> = {}): AccountQuery => ({
    address,
    shape: 'lamports',
    commitment: 'confirmed',
    minContextSlot: undefined,
    ...more,
  });

  t.test('reads of one turn become one call, and each gets its own account', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(300), { minLength: 1, maxLength: 350 }), async (numbers) => {
        const { accounts, calls } = open();
        const readings = await Promise.all(numbers.map((number) => accounts.read(query(`a${number}`))));
        const fits = readings.every(
          ({ slot, account }, i) => slot === 7 && String(account) === `{"lamports":${numbers[i]}}`,
        );
        return (
          fits &&
          calls.length === Math.ceil(numbers.length / 100) &&
          calls.every((call) => call.addresses.length <= 100)
        );
      }),
    );
  });

  t.test('finalized reads name the Clock last, which shows from which slot on they are proven', async (t) => {
    const finalized = (address: string, shape: AccountQuery['shape'] = 'lamports'): AccountQuery =>
      query(address, { commitment: 'finalized', shape });
    for (const shape of ['lamports', 'parsed'] as const) {
      for (const [clockOf, provenFrom] of [
        [(encoding: string) => clockAs(encoding, 7), 7],
        [(encoding: string) => clockAs(encoding, 9), 9], // the node's newest root is two slots ahead
        [(encoding: string) => clockAs(encoding, 6), 71], // it keeps the Clock elsewhere
        [() => 'null', 71],
        [() => '{"data":["AAAA","base64"]}', 71],
        [() => '{"data":["","base58"]}', 71],
        [() => '{"data":7}', 71],
      ] as const) {
        const { accounts, calls } = open(undefined, clockOf);
        t.match(await accounts.read(finalized('a1', shape)), { slot: 7, provenFrom }, `${shape} ${clockOf('base64')}`);
        t.match(await accounts.readBalances({ ...finalized('a1'), addresses: ['a1', 'a2'] }), {
          lamports: [1n, 2n],
          provenFrom,
        });
        t.same(pluck(calls, 'addresses'), [
          ['a1', CLOCK_SYSVAR],
          ['a1', 'a2', CLOCK_SYSVAR],
        ]);
      }
    }
    const { accounts, calls } = open();
    const numbers = Array.from({ length: 99 }, (_, i) => i);
    await Promise.all(numbers.map((number) => accounts.read(finalized(`a${number}`))));
    t.match(calls, { length: 1 }, 'one call for 99');
    t.match(calls[0]?.addresses, { length: 100, 99: CLOCK_SYSVAR });
    const read = await accounts.read(finalized(CLOCK_SYSVAR));
    t.same(calls[1]?.addresses, [CLOCK_SYSVAR], 'the Clock itself is named once');
    t.equal(String(read.account), clockText(7));
  });

  t.test('a missing account is null; one that is read twice is sent once', async (t) => {
    const { accounts, calls } = open();
    const readings = await Promise.all(['none', 'a1', 'a1'].map((address) => accounts.read(query(address))));
    t.same(
      readings.map(({ account }) => account && String(account)),
      [null, '{"lamports":1}', '{"lamports":1}'],
    );
    t.same(calls[0]?.addresses, ['none', 'a1']);
  });

  t.test('other commitments or shapes become other calls; the highest minContextSlot holds for all', async (t) => {
    const { accounts, calls } = open();
    await Promise.all([
      accounts.read(query('a1', { minContextSlot: 5 })),
      accounts.read(query('a2', { minContextSlot: 9 })),
      accounts.read(query('a3')),
      accounts.read(query('a1', { commitment: 'finalized' })),
      accounts.read(query('a1', { shape: 'parsed' })),
    ]);
    t.same(
      calls.map(({ addresses, config }) => [
        addresses.length,
        config.commitment,
        config.encoding,
        config.minContextSlot,
      ]),
      [
        [3, 'confirmed', 'base64', 9],
        [2, 'finalized', 'base64', undefined], // with the Clock
        [1, 'confirmed', 'jsonParsed', undefined],
      ],
    );
  });

  t.test('while a call is under way, reads wait for others until it ends, or for a moment', async (t) => {
    const clock = new ManualClock();
    const calls: string[] = [];
    const end: (() => void)[] = [];
    const call = async (_: string, [addresses]: readonly unknown[] = []): Promise<RpcResponse> => {
      calls.push(String(addresses));
      await new Promise<void>((resolve) => end.push(resolve));
      const value = Buffer.from(JSON.stringify([addresses].flat().map(() => null)));
      return { slot: 1, result: value, value };
    };
    const accounts = new AccountBatcher({ call }, { clock, gatherMs: 1, tip: () => 1 });
    const reads: Promise<unknown>[] = [];
    const read = (address: string): Promise<void> => {
      reads.push(accounts.read(query(address)));
      return new Promise((resolve) => setImmediate(resolve));
    };
    for (const address of ['a', 'b', 'c']) await read(address);
    t.same(calls, ['a'], 'the first waits for nothing');
    end[0]?.();
    await reads[0];
    await read('d');
    t.same(calls, ['a'], 'those whom the call has answered may have read again by the next turn');
    await new Promise((resolve) => setImmediate(resolve));
    t.same(calls, ['a', 'b,c,d']);
    await read('e');
    t.equal(calls.length, 2);
    clock.advance(1);
    t.same(calls, ['a', 'b,c,d', 'e']);
    for (const each of end) each();
    await Promise.all(reads);
    await read('f');
    t.equal(calls.at(-1), 'f', 'and again nothing is waited for');
    end.at(-1)?.();
    await Promise.all(reads);
  });

  t.test('a minimum slot above the tip is read apart, so that it fails nobody else', async (t) => {
    const { accounts, calls } = open(({ config }) => ((config.minContextSlot ?? 0) > 10 ? notReached : undefined));
    const outcomes = await Promise.allSettled([
      accounts.read(query('a1')),
      accounts.read(query('a2', { minContextSlot: 14 })),
      accounts.read(query('a3', { minContextSlot: 10 })),
    ]);
    t.same(pluck(outcomes, 'status'), ['fulfilled', 'rejected', 'fulfilled']);
    t.equal(calls.length, 2);
  });

  t.test('no read fails for the slot, the size or the time of another, and its calls are bounded', async () => {
    const kinds = [
      new GatewayError('upstream_error', 'broke off'),
      new GatewayError('upstream_timeout', 'no node answered in time'),
      new GatewayError('result_too_large', 'too long'),
      new GatewayError('rpc_error', '-32000: response too large', { status: 502, rpcCode: -32000 }),
      new GatewayError('rpc_error', '-32602: account is barred', { status: 400, rpcCode: -32602 }),
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 100 }),
        fc.uniqueArray(fc.nat(99), { maxLength: 100 }),
        fc.constantFrom(...kinds, undefined),
        async (count, bad, failure) => {
          // Without a failure of one account, the bad ones require a slot that the node has not reached.
          const { accounts, calls } = open(({ addresses, config }) => {
            if (failure === undefined) return (config.minContextSlot ?? 0) > 7 ? notReached : undefined;
            return addresses.some((address) => bad.includes(Number(address.slice(1)))) ? failure : undefined;
          });
          const outcomes = await Promise.allSettled(
            Array.from({ length: count }, (_, i) =>
              accounts.read(query(`a${i}`, { minContextSlot: failure === undefined && bad.includes(i) ? 9 : 5 })),
            ),
          );
          const fits = outcomes.every(({ status }, i) => (status === 'rejected') === bad.includes(i));
          return fits && calls.length <= 1 + count + 2 * Math.ceil(Math.log2(count));
        },
      ),
    );
  });

  t.test('one bad account in a hundred is found by halves', async (t) => {
    const broken = new GatewayError('upstream_error', 'broke off');
    const { accounts, calls } = open(({ addresses }) => (addresses.includes('a66') ? broken : undefined));
    await Promise.allSettled(Array.from({ length: 100 }, (_, i) => accounts.read(query(`a${i}`))));
    t.ok(calls.length <= 15, `${calls.length} calls`);
  });

  t.test('the parts of a failed batch are read for a second at most', async (t) => {
    const { accounts, clock, calls } = open(() => {
      clock.advance(600);
      return new GatewayError('upstream_timeout', 'no node answered in time');
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 64 }, (_, i) => accounts.read(query(`a${i}`))));
    t.ok(outcomes.every(({ status }) => status === 'rejected'));
    t.equal(calls.length, 3, 'the batch and its halves');
  });

  t.test('an account that was large is read alone from then on', async (t) => {
    const { accounts, calls } = open();
    const pad = `1,"data":"${'x'.repeat(300_000)}"`;
    const readAll = (): Promise<unknown> =>
      Promise.all([`a${pad}`, 'a2', 'a3'].map((address) => accounts.read(query(address, { shape: 'parsed' }))));
    await readAll();
    await readAll();
    const sizes = calls.map(({ addresses }) => addresses.length);
    t.same(sizes, [3, 1, 2]);
  });

  t.test('so is one of which much had come when its time was over, and it has a longer time', async (t) => {
    const cost = new RequestCost('one', false);
    const { accounts, options } = open(() => {
      if (options.length > 1) return undefined;
      cost.bytes += 300_000;
      return new GatewayError('upstream_timeout', 'no node answered in time');
    });
    const read = () => accounts.read(query('a1', { shape: 'parsed', cost }));
    await t.rejects(read(), { code: 'upstream_timeout' });
    await read();
    t.strictSame(pluck(options, 'isLarge'), [false, true]);
  });

  t.test('all pay a shared call, each its own bytes; it counts for the caller with the fewest reads', async (t) => {
    const { accounts, options } = open();
    const [one, many] = [new RequestCost('one', false), new RequestCost('many', false)];
    await Promise.all([
      ...['a1', 'a2', 'a3'].map((address) => accounts.read(query(address, { cost: many }))),
      accounts.read(query('a4', { cost: one })),
      accounts.read(query('a5')),
    ]);
    const callers = options.map(({ cost }) => cost?.caller);
    t.same(callers, ['one', undefined], 'work of the gateway itself is a call of its own');
    const bytes = '{"lamports":1}'.length;
    t.match(
      [one, many],
      [
        { calls: 1, bytes },
        { calls: 1, bytes: 3 * bytes },
      ],
    );
    await accounts.readBalances({ addresses: ['a1'], commitment: 'confirmed', minContextSlot: undefined, cost: one });
    t.equal(one.calls, 2);
  });

  t.test('an error of the whole batch is not retried by halves', async (t) => {
    const down = new GatewayError('upstream_unavailable', 'no node');
    const { accounts, calls } = open(() => down);
    const outcomes = await Promise.allSettled(['a1', 'a2', 'a3'].map((address) => accounts.read(query(address))));
    t.ok(outcomes.every(({ status }) => status === 'rejected'));
    t.equal(calls.length, 1);
  });

  t.test('balances are one call of their own, whatever else is read in the turn', async (t) => {
    const { accounts, calls } = open();
    const options = { commitment: 'confirmed', minContextSlot: undefined } as const;
    const [, balances, others] = await Promise.all([
      accounts.read(query('a1', { minContextSlot: 9 })),
      accounts.readBalances({ ...options, addresses: ['a3', 'none', 'a1'] }),
      accounts.readBalances({ ...options, addresses: ['a2'], minContextSlot: 5 }),
    ]);
    t.same(
      [balances, others],
      [
        { slot: 7, lamports: [3n, 0n, 1n] },
        { slot: 7, lamports: [2n] },
      ],
    );
    const sent = calls.map(({ addresses, config }) => [addresses.join(), config.minContextSlot]);
    t.same(sent, [
      ['a3,none,a1', undefined],
      ['a2', 5],
      ['a1', 9],
    ]);
  });

  t.test('a batch that fails counts, and so do its halves', async (t) => {
    const { accounts } = open(({ addresses }) =>
      addresses.includes('a1') ? new GatewayError('upstream_error', 'too large') : undefined,
    );
    const [one, other] = [new RequestCost('one', false), new RequestCost('other', false)];
    await t.rejects(
      Promise.all([accounts.read(query('a1', { cost: one })), accounts.read(query('a2', { cost: other }))]),
    );
    t.same([one.calls, other.calls], [2, 2]);
  });
});

t.test('account-info', async (t) => {
  t.test('no long part of an account becomes text to be compared with a short one', (t) => {
    const { toString: decode } = Buffer.prototype;
    t.teardown(() => Object.assign(Buffer.prototype, { toString: decode }));
    let longest = 0;
    Buffer.prototype.toString = function (this: Buffer, ...options: Parameters<typeof decode>) {
      longest = Math.max(longest, this.length);
      return decode.apply(this, options);
    };
    const long = `"${'x'.repeat(1 << 21)}"`;
    const account = (executable: string, rentEpoch: string): Buffer =>
      Buffer.from(
        `{"data":["","base64"],"executable":${executable},"lamports":1,"owner":"o","rentEpoch":${rentEpoch},"space":0}`,
      );
    t.equal(parseAccountInfo(account('true', '7')).executable, true);
    t.equal(parseAccountInfo(account(long, '7')).executable, false);
    t.throws(() => parseAccountInfo(account('true', long)), { code: 'upstream_error' });
    t.ok(longest < 100, `${longest}`);
    t.end();
  });
});

t.test('block-tally', async (t) => {
  const VOTE = 'Vote111111111111111111111111111111111111111';
  const SYSTEM = '11111111111111111111111111111111';
  const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

  interface Made {
    readonly vote?: boolean;
    readonly fee?: bigint;
    readonly err?: object | null;
    readonly units?: number | bigint;
    readonly version?: 'legacy' | number;
    /** An account of these lamports before and after. */
    readonly funded?: readonly [address: string, before: bigint, after: bigint];
    /** Further accounts, neither written nor signing. */
    readonly also?: readonly string[];
    readonly signers?: number;
  }

  let count = 0;

  /** Builds a transaction in the form of `transactionDetails: "accounts"`. */
  function transaction(made: Made): Buffer {
    const { vote = false, fee = 5000n, err = null, units, version, also = [], signers = 1, funded } = made;
    const key = (pubkey: string, signer: boolean, writable: boolean): object => ({
      pubkey,
      signer,
      source: 'transaction',
      writable,
    });
    const accountKeys = [
      ...(funded ? [key(funded[0], false, true)] : []),
      ...Array.from({ length: signers }, (_, i) => key(`signer${i}`, true, true)),
      key('account', false, true),
      key(vote ? VOTE : SYSTEM, false, false),
      ...also.map((address) => key(address, false, false)),
    ];
    const [preBalances, postBalances] = [funded?.[1] ?? 18446744073709551615n, funded?.[2] ?? 0n].map((one) => [one]);
    const meta = { err, fee, computeUnitsConsumed: units, preBalances, postBalances, rewards: null };
    const signatures = [`signature${count++}`, '"} ,]['];
    return Buffer.from(toJson({ meta, transaction: { accountKeys, signatures }, version }));
  }

  const tally = (transactions: readonly Buffer[]) => tallyTransactions(Buffer.from(`[${transactions.join()}]`));

  t.test('a block is counted: votes, failures, fees to the last lamport', async (t) => {
    const result = await tally([
      transaction({ vote: true, version: 'legacy' }),
      transaction({ vote: true, also: [CLOCK] }),
      transaction({ fee: 9007199254740993n }),
      transaction({ err: { InstructionError: [0, { Custom: 1 }] }, version: 0 }),
    ]);
    t.match(result, { count: 4, voteCount: 2, nonVoteCount: 2, successCount: 3, failedCount: 1 });
    t.equal(result.feesLamports, 9007199254755993n);
    t.equal(result.computeUnitsConsumed, null);
    t.equal(result.signatures.length, 2);
  });

  t.test('priority fees and tips are distinguished from the fees of signatures', async (t) => {
    const [tipAccount] = JITO_TIP_ACCOUNTS;
    const tip = (before: bigint, after: bigint): Buffer => transaction({ funded: [tipAccount ?? '', before, after] });
    const most = 2n ** 64n - 1n;
    const result = await tally([
      tip(most - 1n, most),
      tip(10n, 1_010n),
      tip(5_000n, 0n), // the builder gets what was tipped
      transaction({ funded: ['somebody', 0n, 7_000n] }),
      transaction({ fee: 10_007n }), // two signatures each
      transaction({ fee: 0n }), // a cluster that charges nothing
    ]);
    t.match(result, { tipsLamports: 1_001n, priorityFeesLamports: 7n, feesLamports: 30_007n });
  });

  t.test('a vote is what the cluster counts as one', async (t) => {
    const votes = async (one: Made): Promise<number> => (await tally([transaction(one)])).voteCount;
    t.equal(await votes({ vote: true }), 1);
    t.equal(await votes({ vote: true, signers: 2 }), 1);
    t.equal(await votes({ vote: true, signers: 3 }), 0, 'a vote has no third signer');
    t.equal(await votes({ vote: true, version: 0 }), 0, 'votes are legacy');
    t.equal(await votes({ vote: true, also: [SYSTEM] }), 0, 'a second program: a vote account is opened');
  });

  t.test('compute units are summed where every record has them', async (t) => {
    const [one, two] = [transaction({ units: 150 }), transaction({ units: 300 })];
    t.equal((await tally([one, two])).computeUnitsConsumed, 450n);
    const widest = transaction({ units: 2n ** 64n - 1n });
    t.equal((await tally([widest, two])).computeUnitsConsumed, 2n ** 64n + 299n);
    t.equal((await tally([one, transaction({}), two])).computeUnitsConsumed, null);
    t.equal((await tally([])).computeUnitsConsumed, null);
  });

  t.test('the signatures of the first 50 non-vote transactions are listed', async (t) => {
    const many = Array.from({ length: 130 }, (_, i) => transaction({ vote: i % 2 === 0 }));
    const { signatures, nonVoteCount } = await tally(many);
    t.equal(nonVoteCount, 65);
    t.equal(signatures.length, 50);
    t.match(signatures[0], /^signature\d+$/);
  });

  t.test('a transaction without a status is counted, but neither as success nor as failure', async (t) => {
    const bare = Buffer.from('{"meta":null,"transaction":{"accountKeys":[],"signatures":["a"]}}');
    t.match(await tally([bare]), { count: 1, successCount: 0, failedCount: 0, feesLamports: 0n });
  });

  const turnsOf = async (work: Promise<unknown>): Promise<number> => {
    let [turns, isOver] = [0, false];
    const next = (): void => {
      turns++;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    await work.catch(() => {});
    isOver = true;
    return turns;
  };

  t.test('a large block or transaction is scanned in turns of the event loop of at most 256 KiB', async (t) => {
    const mixed = Array.from({ length: 8000 }, (_, i) => transaction(i % 3 === 0 ? {} : { vote: true, also: [CLOCK] }));
    const bytes = mixed.reduce((sum, { length }) => sum + length, 0);
    t.ok((await turnsOf(tally(mixed))) >= bytes / (256 * 1024));
    const odd = transaction({})
      .toString()
      .replace('{"meta":{', `{"meta":{"odd":[${'1,'.repeat(2_000_000)}1],`);
    const counting = tally([Buffer.from(odd)]);
    t.ok((await turnsOf(counting)) >= odd.length / (256 * 1024));
    await t.rejects(counting, { code: 'upstream_error' }, 'what would take a second to count in one turn is refused');
  });

  t.test('rows of token accounts are parsed in turns, however long the data of an account is', async (t) => {
    const row = `{"pubkey":"a","account":{"data":["${'A'.repeat(500_000)}","base64"],"lamports":1,"owner":"o"}}`;
    const value = Buffer.from(`[${Array(10).fill(row)}]`);
    const rpc = { call: async () => ({ slot: 7, result: value, value }) };
    const options = { commitment: 'confirmed', minContextSlot: undefined } as const;
    const { rows } = await readTokenAccountsByOwner(rpc, 'owner', { mint: 'mint' }, options);
    t.equal(rows.length, 10);
    t.ok((await turnsOf(mapRows(rows, (each) => each.length))) >= 9);
  });

  t.test('operators that list more token accounts than an answer may have can be compared', async (t) => {
    const value = Buffer.from(`[${'{"pubkey":"a"},'.repeat(10_000)}{"pubkey":"b"}]`);
    const compared: ConsensusData[] = [];
    const rpc: RpcCaller = {
      call: async (_method, _params, options) => {
        const response = { slot: 7, result: value, value };
        const data = await options?.agree?.compare(response);
        if (data !== undefined) compared.push(data);
        return response;
      },
    };
    const options = { commitment: 'confirmed', minContextSlot: undefined, agree: 2 } as const;
    const listing = readTokenAccountsByOwner(rpc, 'owner', { mint: 'mint' }, options);
    await t.rejects(listing, { code: 'result_too_large' });
    t.match(compared, [{ slot: 7 }]);
  });

  t.test("the leader is the one with the block's fees; old blocks name no time, height or reward", async (t) => {
    const head = { blockhash: 'b', parentSlot: 7, previousBlockhash: 'p' };
    const rewards = [
      { pubkey: 'staker', lamports: -5, rewardType: 'Rent' },
      { pubkey: 'other', lamports: -2, rewardType: 'Rent' },
      { pubkey: 'leader', lamports: 9007199254740993n, postBalance: 1, rewardType: 'Fee', commission: null },
    ];
    const block = (more: object): Buffer => Buffer.from(toJson({ ...head, ...more, transactions: [] }));
    t.match(await summarizeBlock(block({ rewards, blockTime: 1, blockHeight: 2 })), {
      leader: 'leader',
      rewardLamports: 9007199254740993n,
      blockTime: 1,
      blockHeight: 2,
      transactions: { count: 0 },
      rewards: [
        { kind: 'Fee', count: 1, lamports: 9007199254740993n },
        { kind: 'Rent', count: 2, lamports: -7n },
      ],
    });
    for (const none of [{}, { rewards: null, blockTime: null }, { rewards: [] }]) {
      t.match(await summarizeBlock(block(none)), {
        leader: null,
        rewardLamports: null,
        blockTime: null,
        blockHeight: null,
      });
    }
  });

  t.test('anything else than a block is rejected', async (t) => {
    const texts = ['{}', '[]', '{"transactions":[{}]}', '{"transactions":{}}', '{"transactions":[1 2]}'];
    for (const text of texts) await t.rejects(summarizeBlock(Buffer.from(text)), { code: 'upstream_error' }, text);
  });
});

t.test('encoded-accounts', async (t) => {
  /** A node whose responses have at most `maxBytes`, and whose large accounts have `largeBytes` each. */
  function open(largeBytes: number, maxBytes: number) {
    const calls: number[] = [];
    const rpc: RpcCaller = {
      async call(_, [addresses] = []) {
        const list = addresses as readonly string[];
        calls.push(list.length);
        const bytes = list.map((address) => (address.startsWith('large') ? largeBytes : 4));
        if (bytes.reduce((sum, each) => sum + each) > maxBytes)
          throw new GatewayError('result_too_large', 'the response is too long');
        const accounts = bytes.map((each) => `{"lamports":1,"owner":"o","data":["${'A'.repeat(each)}","base64"]}`);
        const value = Buffer.from(`[${accounts}]`);
        return { slot: 7, result: value, value };
      },
    };
    return { rpc, calls };
  }

  const options = { commitment: 'confirmed', minContextSlot: undefined } as const;

  t.test('accounts too large for one response are read by halves', async (t) => {
    const { rpc, calls } = open(1000, 2500);
    const addresses = ['large1', 'a1', 'a2', 'large2', 'a3', 'large3', 'a4', 'a5'];
    const { slots, accounts } = await readEncodedAccounts(rpc, addresses, options);
    t.equal(accounts.size, 8);
    t.same(slots, [7, 7], 'the slot of each part');
    t.same(calls, [8, 4, 4]);
  });

  t.test('an account of megabytes is decoded in turns of the event loop', async (t) => {
    const { rpc } = open(4 << 20, 8 << 20);
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    count();
    const { accounts } = await readEncodedAccounts(rpc, ['large1'], options);
    isOver = true;
    t.ok(accounts.get('large1')?.data.every((byte) => byte === 0));
    t.equal(accounts.get('large1')?.data.length, 3 << 20);
    t.ok(turns > 32 + 32, `${turns} turns: 32 find it, and 64 decode it`);
  });

  t.test('one account too large for any response, or too many bytes in all, is refused', async (t) => {
    const refused = { code: 'result_too_large' };
    const tooLong = open(3000, 2500);
    await t.rejects(readEncodedAccounts(tooLong.rpc, ['a1', 'large1', 'a2'], options), refused);
    const tooMany = open(30 << 20, 32 << 20);
    await t.rejects(readEncodedAccounts(tooMany.rpc, ['large1', 'large2', 'large3', 'a1'], options), refused);
  });
});

t.test('account-values', async (t) => {
  const addresses = Array.from({ length: 100 }, (_, i) => `a${i}`);
  const json = `{"lamports":1,"owner":"o","data":["${'A'.repeat(16 << 10)}","base64"]}`;
  const value = Buffer.from(`[${addresses.map(() => json)}]`);
  const rpc: RpcCaller = { call: async () => ({ slot: 7, result: value, value }) };
  /** The turns of the event loop in which accounts are read. */
  const turnsOf = async (maxBytes: number): Promise<number> => {
    let [turns, isRead] = [0, false];
    const read = readAccountValues(rpc, addresses, { minContextSlot: 1, maxBytes }).then((values) => {
      isRead = true;
      return values;
    });
    for (; !isRead; turns++) await new Promise(setImmediate);
    const { values, tooLarge } = await read;
    t.same([values.size, tooLarge.size], maxBytes < json.length ? [0, 100] : [100, 0]);
    return turns;
  };
  const undecoded = await turnsOf(json.length - 1);
  const decoded = await turnsOf(json.length);
  t.ok(decoded - undecoded >= 10, `${decoded} turns, ${undecoded} where none is decoded`);
});

t.test('existence-checks', async (t) => {
  t.test('a call with a minimum slot is answered by a node that has reached it', async (t) => {
    const [late, first] = [await startScriptedNode(t), await startScriptedNode(t)];
    for (const node of [late, first]) {
      node.slots = { processed: 4999, confirmed: 4997, finalized: 4967 };
      node.replies.getTransaction = 'null';
      node.replies.getBlockTime = '1700000000';
    }
    const world = await connectScripted(t, [late, first]);
    const { mesh } = world;
    await notifyAll(world, [late, first], 5000);
    first.slots = { processed: 5006, confirmed: 5004, finalized: 4974 };
    first.notify('accountSubscribe', '{"context":{"slot":5004},"value":null}', 'confirmed');
    await waitUntil(() => mesh.tip('confirmed') === 5004);
    const signature = '5'.repeat(87);
    t.same(await transactionExists(mesh, signature, undefined), { slot: 4998, exists: false }, 'the late one will do');
    t.same(await transactionExists(mesh, signature, 5001), { slot: 5004, exists: false });
    t.same(await blockExists(mesh, 4000n, undefined), { slot: 4998, exists: true });
    t.same(await blockExists(mesh, 4000n, 5001), { slot: 5004, exists: true });
  });

  t.test('a block whose time nobody has recorded exists', async (t) => {
    const node = await startScriptedNode(t);
    const { mesh } = await connectScripted(t, [node]);
    node.replies.getBlockTime = 'null';
    node.replies.getBlock = '{"blockhash":"b","blockTime":null}';
    t.match(await blockExists(mesh, 40n, undefined), { exists: true });
    node.replies.getBlock = 'null';
    t.match(await blockExists(mesh, 40n, undefined), { exists: false });
  });
});

t.test('merged-signatures', async (t) => {
  /** A transaction of the ledger: which of the lists name it, as bits. A block is a list of them, in its order. */
  interface Landed {
    readonly signature: string;
    readonly slot: number;
    readonly lists: number;
  }

  const ADDRESSES = ['owner', 'account 1', 'account 2'] as const;
  const FIRST_SLOT = 1000;

  /** A ledger, and a node over it that pages as agave does: by place in the block, below any transaction it knows. */
  class Ledger {
    readonly landed: readonly Landed[];
    readonly calls: string[] = [];
    readonly floors = new Set<number>();
    readonly mesh: Pick<Mesh, 'call' | 'tip'>;
    readonly #tip: number;

    /** A skipped slot is null; each other one is the lists of each of its transactions. */
    constructor(blocks: readonly (readonly number[] | null)[]) {
      let n = 0;
      this.landed = blocks.flatMap((block, i) =>
        (block ?? []).map((lists) => ({ signature: scrambled(n++), slot: FIRST_SLOT + i, lists })),
      );
      this.#tip = FIRST_SLOT + blocks.length - 1;
      const finalized = this.#tip - 3;
      this.mesh = {
        tip: (commitment) => (commitment === 'finalized' ? finalized : this.#tip),
        call: async (method, [subject, config] = []): Promise<RpcResponse> => {
          this.calls.push(method);
          const known = (config as { commitment: string }).commitment === 'finalized' ? finalized : this.#tip;
          const result = Buffer.from(
            JSON.stringify(
              method === 'getBlock'
                ? this.#block(Number(subject), blocks, known)
                : this.#list(String(subject), config as ListConfig, known),
            ),
          );
          return { slot: known, result, value: result };
        },
      };
    }

    /** Returns the list as it should be: newest slot first, then by signature. */
    get expected(): string[] {
      return this.landed
        .filter(({ lists }) => lists > 0)
        .toSorted((a, b) => b.slot - a.slot || (a.signature < b.signature ? -1 : 1))
        .map(({ signature }) => signature);
    }

    #block(slot: number, blocks: readonly (readonly number[] | null)[], known: number): object {
      if (slot > known || blocks[slot - FIRST_SLOT] == null)
        throw new GatewayError('rpc_error', 'skipped', { rpcCode: RPC_ERROR_CODE.slotSkipped, status: 404 });
      return { signatures: this.landed.filter((each) => each.slot === slot).map(({ signature }) => signature) };
    }

    #list(address: string, { before, limit, minContextSlot }: ListConfig, known: number): object[] {
      this.floors.add(minContextSlot);
      const bit = 1 << ADDRESSES.indexOf(address as (typeof ADDRESSES)[number]); // no other is requested
      const end =
        before === undefined ? this.landed.length : this.landed.findIndex((each) => each.signature === before);
      if (end < 0 || (this.landed[end]?.slot ?? 0) > known)
        throw new GatewayError('rpc_error', 'unknown', {
          rpcCode: RPC_ERROR_CODE.filterTransactionNotFound,
          status: 404,
        });
      return this.landed
        .slice(0, end)
        .filter(({ lists, slot }) => (lists & bit) > 0 && slot <= known)
        .slice(-limit)
        .toReversed()
        .map(({ signature, slot }) => ({ signature, slot, err: null, memo: null, blockTime: null }));
    }
  }

  interface ListConfig {
    readonly commitment: string;
    readonly before?: string;
    readonly limit: number;
    readonly minContextSlot: number;
  }

  /** Returns a signature whose place in the alphabet says nothing about its place in the ledger. */
  const scrambled = (n: number): string => ((n * 7919 + 13) % 100_003).toString(36).padStart(5, '0');

  /** Reads a page. Each merger has met the pages that it read itself. */
  const readPage = (ledger: Ledger, merger: MergedSignatures, limit: number, before?: string): Promise<SignaturePage> =>
    merger.read(ledger.mesh, {
      addresses: ADDRESSES,
      before,
      limit,
      commitment: 'confirmed',
      minSlot: undefined,
      slotOfCursor: async (cursor) => {
        const found = ledger.landed.find(({ signature }) => signature === cursor);
        if (found === undefined) throw cursorNotFound();
        return found.slot;
      },
    });

  /** Walks from the newest to the end. */
  async function walk(ledger: Ledger, limit: number, mergerOf: () => MergedSignatures): Promise<string[]> {
    const signatures: string[] = [];
    for (let before: string | undefined; ; ) {
      const { rows, nextBefore } = await readPage(ledger, mergerOf(), limit, before);
      if (rows.length > limit) throw new Error(`${rows.length} rows`);
      signatures.push(...rows.map(({ signature }) => signature));
      if (nextBefore === null) return signatures;
      before = nextBefore;
    }
  }

  const blocks = fc.array(fc.option(fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 6 })), {
    minLength: 1,
    maxLength: 25,
  });

  t.test('a walk lists each transaction once, in order, whatever the pages and whoever read before', async (t) => {
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 1, max: 9 }), async (blocks, limit) => {
        const ledger = new Ledger(blocks);
        const merger = new MergedSignatures();
        const walks = [
          await walk(ledger, limit, () => merger),
          await walk(ledger, limit, () => new MergedSignatures()),
        ];
        const floors = ledger.floors.size; // one for each commitment
        return floors <= 2 && walks.every((signatures) => isDeepStrictEqual(signatures, ledger.expected));
      }),
      { numRuns: 80 },
    );
    t.pass();
  });

  t.test('any transaction of the lists is a cursor', async (t) => {
    await fc.assert(
      fc.asyncProperty(blocks, fc.nat(), async (blocks, pick) => {
        const ledger = new Ledger(blocks);
        const { expected } = ledger;
        if (expected.length === 0) return true;
        const place = pick % expected.length;
        const { rows } = await readPage(ledger, new MergedSignatures(), 5, expected[place]);
        const signatures = rows.map(({ signature }) => signature);
        return isDeepStrictEqual(signatures, expected.slice(place + 1, place + 6));
      }),
      { numRuns: 80 },
    );
    t.pass();
  });

  t.test('a slot with more rows than a page is paged like any other', async (t) => {
    const ledger = new Ledger([[1], Array.from({ length: 60 }, (_, i) => 1 + (i % 7)), [2], null, [4]]);
    const merger = new MergedSignatures();
    t.same(await walk(ledger, 7, () => merger), ledger.expected);
    t.same(await walk(ledger, 7, () => new MergedSignatures()), ledger.expected);
  });

  t.test('a walk costs a call for each list and page: what is above a cursor is remembered', async (t) => {
    const ledger = new Ledger(Array.from({ length: 60 }, (_, i) => [1 + (i % 7), 0]));
    const merger = new MergedSignatures();
    await walk(ledger, 10, () => merger);
    t.same(ledger.calls, Array(ADDRESSES.length * 6).fill('getSignaturesForAddress'));
    ledger.calls.length = 0;
    await readPage(ledger, new MergedSignatures(), 10, ledger.expected[10]);
    const blocksRead = () => ledger.calls.filter((method) => method === 'getBlock').length;
    t.equal(blocksRead(), 1);
    const doubted = new MergedSignatures();
    const reading = readPage(ledger, doubted, 10);
    doubted.clear();
    const { nextBefore } = await reading;
    await readPage(ledger, doubted, 10, nextBefore ?? '');
    t.equal(blocksRead(), 2, 'after a lie nothing is remembered of what was being read');
  });

  t.test('a cursor that nobody knows is refused as such, and a node that repeats a slot is given up', async (t) => {
    const ledger = new Ledger([[1], [2]]);
    await t.rejects(readPage(ledger, new MergedSignatures(), 5, 'nobody'), { code: 'cursor_not_found' });
    const row = { slot: FIRST_SLOT, err: null, memo: null, blockTime: null };
    const endless = Buffer.from(
      JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ ...row, signature: `${i}` }))),
    );
    let calls = 0;
    const mesh: Ledger['mesh'] = {
      tip: () => FIRST_SLOT,
      call: async () => {
        calls++;
        return { slot: FIRST_SLOT, result: endless, value: endless };
      },
    };
    const query = { addresses: ADDRESSES, before: undefined, limit: 5, commitment: 'confirmed', minSlot: 0 } as const;
    const reading = new MergedSignatures().read(mesh, { ...query, slotOfCursor: async () => 0 });
    await t.rejects(reading, { code: 'upstream_error' });
    t.ok(calls <= 24, `${calls} calls`);
  });
});

t.test('program-idls', async (t) => {
  t.test('an IDL is read in one call of two accounts that belong to the right programs, and remembered', async (t) => {
    const [program, other] = [addressFromByte(1), addressFromByte(2)];
    const idl = deflateSync(
      JSON.stringify({ instructions: [{ name: 'go', discriminator: [1, 2, 3, 4, 5, 6, 7, 8] }] }),
    );
    const header = Buffer.alloc(44);
    header.writeUInt32LE(idl.length, 40);
    const data = Buffer.concat([header, idl]);
    const accountAt = (of: string, owner: string) =>
      [idlPlacesOf(of)[0]?.address ?? '', { lamports: 1n, owner, data }] as const;
    const accounts = new Map([accountAt(program, program), accountAt(other, program)]);
    const requested: unknown[] = [];
    const call = async (method: string, params: readonly unknown[] = []) => {
      requested.push(params);
      const value = Buffer.from(rpcResultOf(accounts, method, params));
      return { slot: 9, value, result: value };
    };
    const cost = new RequestCost('me', true);
    const readIdl = async (found: readonly IdlAccount[]) => decodingTasks.readIdl(found);
    const clock = new ManualClock();
    const idls = new ProgramIdlCache(clock);
    const find = async (id: string) => [
      ...(await idls.find(id, { rpc: { call }, cost, readIdl }, { commitment: 'confirmed', minContextSlot: 9 })),
    ];
    t.strictSame(await find(program), [['0102030405060708', 'go']]);
    t.strictSame(await find(program), [['0102030405060708', 'go']]);
    t.match(requested, [[Array, { dataSlice: { offset: 0, length: 65_632 }, minContextSlot: 9 }]]);
    t.equal(cost.rows, 2);
    t.strictSame(await find(other), [], 'an account of another program is not its IDL');
    t.strictSame(await find(other), []);
    t.equal(requested.length, 2, 'that there is none is remembered');
  });
});

t.test('signature-page', async (t) => {
  /** History of one address, and a mesh that returns it. A few transactions share a slot. */
  class Past {
    readonly signatures: string[] = [];
    readonly #perSlot = 3;

    constructor(length: number) {
      this.arrive(length);
    }

    arrive(count: number): void {
      for (let i = 0; i < count; i++) this.signatures.push(`s${this.signatures.length}`);
    }

    slotOf = (place: number): number => 1000 + Math.floor(place / this.#perSlot);

    readonly mesh: Pick<Mesh, 'call' | 'tip'> = {
      tip: (commitment) => this.slotOf(this.signatures.length) - (commitment === 'finalized' ? 32 : 0),
      call: async (_, [, config] = []): Promise<RpcResponse> => {
        // parameters of readSignaturePage, in the node's names
        const { limit, before, commitment, minContextSlot } = config as {
          readonly limit: number;
          readonly before?: string;
          readonly commitment: 'confirmed' | 'finalized';
          readonly minContextSlot: number;
        };
        const tip = this.mesh.tip(commitment) ?? 0;
        if (minContextSlot > tip)
          throw new GatewayError('rpc_error', 'behind', {
            rpcCode: RPC_ERROR_CODE.minContextSlotNotReached,
            status: 503,
          });
        const knownCount = Math.min(this.signatures.length, (tip + 1 - this.slotOf(0)) * this.#perSlot);
        const end = before === undefined ? knownCount : Number(before.slice(1)); // signatures are s0, s1, and so on
        if (!(end < knownCount || before === undefined))
          throw new GatewayError('rpc_error', 'not found', {
            rpcCode: RPC_ERROR_CODE.filterTransactionNotFound,
            status: 404,
          });
        const rows = this.signatures.slice(Math.max(0, end - limit), end).map((signature, i) => ({
          blockTime: null,
          confirmationStatus: this.slotOf(Math.max(0, end - limit) + i) <= tip - 32 ? 'finalized' : 'confirmed',
          err: null,
          memo: null,
          signature,
          slot: this.slotOf(Math.max(0, end - limit) + i),
        }));
        const result = Buffer.from(JSON.stringify(rows.reverse()));
        return { slot: minContextSlot, result, value: result };
      },
    };

    page = (query: Partial<SignatureQuery> = {}): Promise<SignaturePage> =>
      readSignaturePage(this.mesh, {
        address: 'a',
        before: undefined,
        limit: 100,
        commitment: 'confirmed',
        minSlot: undefined,
        ...query,
      });
  }

  t.test('paging reaches the end of a growing history: no duplicate, no gap, no loop', async (t) => {
    const length = 10_000;
    const step = fc.record({ limit: fc.integer({ min: 1, max: 100 }), arrivals: fc.integer({ min: 0, max: 40 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 10 }),
        fc.constantFrom('confirmed', 'finalized'),
        async (steps, commitment) => {
          const past = new Past(length);
          const finalized = past.signatures.filter(
            (_, place) => past.slotOf(place) <= (past.mesh.tip(commitment) ?? 0),
          );
          const walked: string[] = [];
          let before: string | undefined;
          for (let i = 0; ; i++) {
            const { limit = 1, arrivals = 0 } = steps[i % steps.length] ?? {};
            const { rows, nextBefore } = await past.page({ limit, before, commitment });
            walked.push(...rows.map(({ signature }) => signature));
            if (nextBefore === null) break;
            before = nextBefore;
            past.arrive(arrivals);
            if (i > length) throw new Error('the walk goes in circles');
          }
          return walked.join() === finalized.reverse().join();
        },
      ),
      { numRuns: 6 },
    );
    t.pass('as the property says');
  });

  t.test('a page that ends exactly with the history is followed by an empty one', async (t) => {
    const past = new Past(200);
    const page = await past.page({ before: 's100' });
    t.equal(page.nextBefore, 's0');
    t.match(await past.page({ before: 's0' }), { rows: [], nextBefore: null });
  });

  t.test('a page is never older than one before', async (t) => {
    const past = new Past(1000);
    const minSlot = past.mesh.tip('confirmed') ?? 0;
    t.equal((await past.page({ before: 's100', minSlot })).slot, minSlot);
    await t.rejects(past.page({ minSlot: minSlot + 1 }), { code: 'stale', status: 503 });
  });

  t.test('an unknown cursor has its own error', async (t) => {
    await t.rejects(new Past(10).page({ before: 'unknown' }), { code: 'cursor_not_found', status: 404 });
  });

  /** Reads a page with exactly these signatures. */
  function pageOf(...signatures: string[]): Promise<SignaturePage> {
    const rows = signatures.map((signature) => ({ signature, slot: 5, err: { InstructionError: [0, 'Custom'] } }));
    const result = Buffer.from(JSON.stringify(rows));
    const mesh: Pick<Mesh, 'call' | 'tip'> = {
      tip: () => 9,
      call: async () => ({ slot: 9, result, value: result }),
    };
    const query = { address: 'a', before: 'c', limit: 3, commitment: 'finalized', minSlot: undefined } as const;
    return readSignaturePage(mesh, query);
  }

  t.test('rows at or above the cursor were on an earlier page, so they are dropped', async (t) => {
    const page = await pageOf('b', 'c', 'd');
    t.strictSame(page.rows, [
      {
        signature: 'd',
        slot: 5,
        blockTime: null,
        confirmationStatus: 'finalized',
        err: '{"InstructionError":[0,"Custom"]}',
        memo: null,
      },
    ]);
    t.match(page, { nextBefore: 'd' });
  });

  t.test('a node that returns the same page again causes an error, not a loop', async (t) => {
    await t.rejects(pageOf('a', 'b', 'c'), { code: 'upstream_error' });
  });
});

t.test('operators', async (t) => {
  type Read = (rpc: RpcCaller) => Promise<unknown>;
  const NONE: Facts = new Map();

  /** Returns how a read compares responses of nodes, given as JSON: whether they are the same, and contradict each other. */
  async function compared(read: Read, ...responses: readonly string[]): Promise<string> {
    const data = await Promise.all(
      responses.map(async (json) => {
        const result = Buffer.from(json);
        const value = json.startsWith('{') ? (member(result, 'value') ?? result) : result;
        let compare: AgreeOptions['compare'] | undefined;
        const call: RpcCaller['call'] = async (_method, _params, { agree } = {}) => {
          compare = agree?.compare;
          throw new GatewayError('upstream_unavailable', 'nothing is read');
        };
        await read({ call }).catch(() => {});
        if (compare === undefined) throw new Error('nothing is compared');
        return compare({ slot: 9, result, value });
      }),
    );
    const [facts = NONE, others = NONE] = await Promise.all(data.map(async (each) => (await each.facts?.()) ?? NONE));
    const isSame = data[0]?.digest === data[1]?.digest;
    return `${isSame ? 'same' : 'differ'}${contradictionOf(facts, others) === undefined ? '' : ', a lie'}`;
  }

  const accounts = (...each: readonly string[]): string => `{"context":{"slot":9},"value":[${each.join()}]}`;
  const readAs =
    (encoding: string, commitment: Commitment = 'confirmed'): Read =>
    (rpc) =>
      readMultipleAccounts(rpc, ['a'], { commitment, encoding });
  const account = (lamports: number, data: string, rest = ''): string =>
    accounts(`{"lamports":${lamports},"owner":"o","executable":false,"data":${data}${rest}}`);
  const DATA = '["AQ==","base64"]';
  const holding = (amount: string, shown = '1'): string =>
    `{"program":"spl-token","parsed":{"type":"account","info":{"mint":"m","owner":"w","tokenAmount":{"amount":"${amount}","uiAmountString":"${shown}"}}}}`;

  t.test('of an account nobody has other lamports, owner or data, and each may have another parser', async (t) => {
    const [plain, parsed] = [readAs('base64'), readAs('jsonParsed')];
    for (const [read, one, other, expected] of [
      [plain, account(1, DATA), account(1, DATA), 'same'],
      [
        plain,
        account(1, DATA, ',"rentEpoch":0,"space":1'),
        account(1, DATA, ',"rentEpoch":18446744073709551615'),
        'same',
      ],
      [plain, account(1, DATA), account(1, DATA.replace(',', ' , ')), 'same'],
      [plain, account(1, DATA), account(2, DATA), 'differ, a lie'],
      [plain, account(1, DATA), account(1, '["Ag==","base64"]'), 'differ, a lie'],
      [plain, account(1, DATA), account(1, '"Ag=="'), 'differ, a lie'],
      [plain, account(1, DATA), accounts('null'), 'differ, a lie'],
      [readAs('base64', 'processed'), account(1, DATA), account(2, DATA), 'differ'],
      [parsed, account(1, DATA, ',"rentEpoch":0'), account(1, DATA, ',"rentEpoch":1'), 'differ'],
      [parsed, account(1, `${DATA},"space":1`), account(1, ` [ "AQ==", "base64" ], "space":1`), 'same'],
      [parsed, account(1, DATA), account(1, '{"program":"new","parsed":{}}'), 'differ'],
      [
        parsed,
        account(1, '{"program":"a","parsed":{"x":1}}'),
        account(1, '{"program":"a","parsed":{"x":2}}'),
        'differ',
      ],
      [parsed, account(1, holding('5')), account(1, holding('5', '1.0')), 'differ'],
      [parsed, account(1, holding('5')), account(1, holding('6')), 'differ, a lie'],
    ] as const)
      t.equal(await compared(read, one, other), expected, `${one} ${other}`);
  });

  t.test('a transaction that a node has forgotten, or whose error it writes otherwise, is no lie', async (t) => {
    const read: Read = (rpc) => readTransactionRecord(rpc, 's', { commitment: 'confirmed', minSlot: undefined });
    const record = (meta: string, rest = ''): string =>
      `{"slot":5,"meta":${meta},"transaction":{"signatures":["s"],"message":{"recentBlockhash":"b","accountKeys":["k"]}}${rest}}`;
    const metaOf = (err: string, fee = 5, rest = ''): string =>
      `{"err":${err},"fee":${fee},"preBalances":[9],"postBalances":[4]${rest}}`;
    const truth = record(metaOf('{"InstructionError":[0,{"BorshIoError":"Unknown"}]}'));
    for (const [other, expected] of [
      [truth, 'same'],
      ['null', 'differ'],
      [record('null'), 'differ'],
      [record(metaOf('{"InstructionError":[0,"BorshIoError"]}')), 'differ'],
      [record(metaOf('{"InstructionError":[0,{"BorshIoError":"Unknown"}]}', 5, ',"costUnits":7')), 'differ'],
      [truth.replace('"k"', '{"pubkey":"k","signer":true}'), 'differ'],
      [record(metaOf('null')), 'differ, a lie'],
      [record(metaOf('{"InstructionError":[0,{"BorshIoError":"Unknown"}]}', 6)), 'differ, a lie'],
      [truth.replace('"slot":5', '"slot":6'), 'differ, a lie'],
    ] as const)
      t.equal(await compared(read, truth, other), expected, other);
  });

  t.test('a block may lack times, rewards and statuses; whole blocks are compared by the same', async (t) => {
    const transaction = (meta: string): string =>
      `{"transaction":{"signatures":["s"],"accountKeys":[]},"meta":${meta},"version":0}`;
    const block = (meta: string, rest = '', hash = 'b'): string =>
      `{"blockhash":"${hash}","parentSlot":4,"previousBlockhash":"p"${rest},"transactions":[${transaction(meta)}]}`;
    const meta = '{"err":null,"fee":5,"preBalances":[9,1],"postBalances":[4,1]}';
    const truth = block(meta);
    for (const read of [readBlockSummary, readFullBlock])
      for (const [other, expected] of [
        [truth, 'same'],
        [block(meta, ',"blockTime":7'), 'differ'],
        [block(meta, ',"rewards":[]'), 'differ'],
        [block(meta, ',"rewards":[]').replaceAll(',', ', '), 'differ'],
        [block('null'), 'differ'],
        [block(meta.replace('null', '"AccountInUse"')), 'differ, a lie'],
        [block(meta.replace('5', '6')), 'differ, a lie'],
        [block(meta, '', 'c'), 'differ, a lie'],
      ] as const)
        t.equal(await compared((rpc) => read(rpc, 5, { commitment: 'finalized' }), truth, other), expected, other);
  });

  t.test('a call names an account of the one before, which another operator must have alike', async (t) => {
    let answers: readonly (readonly [node: string, slot: number, lamports: number])[] = [];
    const named: string[] = [];
    const decided: unknown[] = [];
    let agreed = 2;
    const clock = new ManualClock();
    const respond = (slot: number, lamports: number, addresses: unknown) => {
      const each = Array.from(Object(addresses), () => `{"lamports":${lamports}}`);
      const value = Buffer.from(`[${each.join()}]`);
      return { slot, result: value, value };
    };
    const rpc: RpcCaller = {
      call: async (_, [addresses] = [], { agree } = {}) => {
        decided.push([addresses, agree?.count]);
        return { ...respond(8, 1, addresses), agreement: { slot: 8, agreed, read: 3, needed: 2 } };
      },
    };
    const call: RpcCaller['call'] = async (_, [addresses] = []) => {
      const [[nodeId, slot, lamports] = ['', 0, 0], ...rest] = answers;
      answers = rest;
      named.push(String(addresses));
      return { ...respond(slot, lamports, addresses), nodeId };
    };
    const none = {
      provenFrom: undefined,
      accounts: new Map<string, Buffer>(),
      bytes: 0,
      frame: [Buffer.alloc(0), Buffer.alloc(0)] as const,
      agreement: undefined,
    };
    const agreement = { operators: 4, rpc, areOfTwoOperators: (one?: string, other?: string) => one !== other };
    const overlapping = new OverlappingReads({ agreement, clock, random: () => 0 });
    const batcher = new AccountBatcher({ call }, { clock, overlapping, tip: () => 10 });
    const read = async (...of: typeof answers): Promise<void> => {
      answers = of;
      for (const [i] of of.entries())
        await batcher.read({ address: `${i}`, shape: 'lamports', commitment: 'confirmed', minContextSlot: undefined });
    };
    await read(['a', 7, 1], ['b', 7, 1], ['a', 7, 2], ['a', 7, 1], ['c', 8, 1]);
    t.strictSame(named, ['0', '1,0', '2,1', '3,2', '4,3']);
    t.strictSame(decided, [[['1'], 3]], 'b and a differ at slot 7; equal nodes and other slots are not compared');
    overlapping.observe('lamports', ['x'], { commitment: 'confirmed' }, { ...none, slot: 8, nodeId: 'd' });
    t.equal(decided.length, 1, 'nor is what a call did not name, since another has ended');
    agreed = 1;
    await read(['a', 7, 1], ['b', 7, 2], ['a', 7, 1], ['b', 7, 2]);
    t.equal(decided.length, 2, 'an operator that could not decide is not read again');
    clock.advance(10_000);
    await read(['a', 7, 1], ['b', 7, 2]);
    t.equal(decided.length, 3, 'for some time');
  });

  t.test('what is no account fails its own read', async (t) => {
    const value = Buffer.from('[1]');
    const rpc: RpcCaller = { call: async () => ({ slot: 7, nodeId: 'a', result: value, value }) };
    const clock = new ManualClock();
    const agreement = { operators: 2, rpc, areOfTwoOperators: () => true };
    const overlapping = new OverlappingReads({ agreement, clock, random: () => 0 });
    const batcher = new AccountBatcher(rpc, { clock, overlapping, tip: () => 7 });
    const query = { address: 'a', shape: 'lamports', commitment: 'confirmed', minContextSlot: undefined } as const;
    await t.rejects(batcher.read(query), { code: 'upstream_error' });
  });

  t.test('what a list says of its accounts counts where nobody reads them again', async (t) => {
    const read: Read = (rpc) =>
      readTokenAccountsByOwner(rpc, 'w', { programId: 'p' }, { commitment: 'finalized', minContextSlot: undefined });
    const list = (length: number, amount: string): string =>
      accounts(
        ...Array.from({ length }, (_, i) => `{"pubkey":"${i}","account":{"lamports":1,"data":["${amount}","base64"]}}`),
      );
    t.equal(await compared(read, list(200, 'AQ=='), list(200, 'Ag==')), 'same');
    t.equal(await compared(read, list(200, 'AQ=='), list(199, 'AQ==')), 'differ');
    t.equal(await compared(read, list(201, 'AQ=='), list(201, 'AQ==')), 'same');
    t.equal(await compared(read, list(201, 'AQ=='), list(201, 'Ag==')), 'differ');
  });
});

t.test('transaction-record', async (t) => {
  type Reader = Pick<Mesh, 'call'>;

  const UNSUPPORTED = new GatewayError('rpc_error', '-32015: Transaction version (3) is not supported by the client', {
    rpcCode: RPC_ERROR_CODE.unsupportedTransactionVersion,
    status: 400,
  });

  t.test('an unknown version is requested by the number that the node names, once', async (t) => {
    const versions: unknown[] = [];
    const mesh: Reader = {
      call: async (_, params = []) => {
        const { maxSupportedTransactionVersion } = Object(params[1]);
        versions.push(maxSupportedTransactionVersion);
        if (maxSupportedTransactionVersion !== 3) throw UNSUPPORTED;
        return { slot: 1, result: Buffer.from('{}'), value: Buffer.from('{}') };
      },
    };
    const read = { method: 'getBlock', subject: 7, config: { rewards: true }, commitment: 'confirmed' } as const;
    t.equal((await callWithMaxSupportedVersion(mesh, read)).slot, 1);
    t.strictSame(versions, [1, 3]);
    const stubborn: Reader = { call: () => Promise.reject(UNSUPPORTED) };
    await t.rejects(callWithMaxSupportedVersion(stubborn, read), { code: 'rpc_error' });
  });

  t.test('what a feed and a log have missed is read whatever the version', async (t) => {
    const rpc: Reader = {
      call: async (method, params = []) => {
        const { maxSupportedTransactionVersion: version } = Object(params[1]);
        if (version < 1) throw UNSUPPORTED;
        const result = method === 'getSignaturesForAddress' ? '[{"slot":6,"signature":"s"}]' : FOUND;
        return { slot: 7, result: Buffer.from(result), value: Buffer.from(result) };
      },
    };
    const FOUND =
      '{"blockhash":"b","parentSlot":6,"previousBlockhash":"a","meta":{"logMessages":["x"]},"transactions":[],"rewards":[]}';
    t.match(await readWrittenAccounts(rpc, 7), { slot: 7, blockhash: 'b' });
    const budget = new RequestBudget(new ManualClock(), 100);
    t.strictSame(await readMissedLogs(rpc, budget, new LogTopic('a', 'confirmed'), 7), [
      { slot: 6, signature: 's', json: '{"signature":"s","err":null,"logs":["x"]}' }, // a node may leave out the null
    ]);
  });

  t.test('what is held back of a log while it catches up is found soon, however much it is', async (t) => {
    const topic = new LogTopic('a', 'confirmed');
    topic.start(10);
    topic.onLost(20);
    const signatureOf = (i: number): string => String(i).padStart(88, 'x');
    for (let i = 0; i < 6000; i++)
      topic.onNotification(21, Buffer.from(`{"signature":"${signatureOf(i)}","err":null,"logs":[]}`), 20);
    const before = process.cpuUsage();
    const listed = Array.from({ length: 999 }, (_, i) => topic.isKnown({ slot: 21, signature: signatureOf(5999 - i) }));
    const { user } = process.cpuUsage(before);
    t.notOk(listed.includes(false));
    t.ok(user < 20_000, `in ${user / 1000} ms`);
    const order: number[] = [];
    topic.subscriptions.add({
      subscriber: { onReady() {}, onEnd() {}, onLogs: (slot) => order.push(slot) },
      callers: [],
    });
    topic.catchUp([{ slot: 20, signature: 'covered', json: '' }]);
    topic.onNotification(22, Buffer.from('{"signature":"later"}'), 21);
    while (topic.isBehind) await new Promise((resolve) => setImmediate(resolve));
    t.strictSame([order.length, order[0], order.at(-1)], [6001, 21, 22]);
  });

  t.test('many records are read eight at a time, and returned in the order of the signatures', async (t) => {
    let [under, most] = [0, 0];
    const mesh: Reader = {
      call: async (_, [signature] = []) => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setImmediate(resolve));
        under--;
        const result = Buffer.from(signature === 's3' ? 'null' : JSON.stringify({ signature }));
        return { slot: 1, result, value: result };
      },
    };
    const signatures = Array.from({ length: 25 }, (_, i) => `s${i}`);
    const reader = new TransactionRecords({ tip: () => 1 }, 100_000);
    const listed = signatures.map((signature) => ({ signature, slot: 1 }));
    const read = await reader.readAll(mesh, listed, { commitment: 'confirmed', minSlot: undefined }, undefined);
    const records = read.map(({ record }) => record);
    t.equal(most, 8);
    const found = records.map((record) => record && JSON.parse(record.toString()).signature);
    t.strictSame(
      found,
      signatures.map((signature) => (signature === 's3' ? null : signature)),
    );
  });

  t.test('a finalized record is read once; another is read again unless a list has it in the same slot', async (t) => {
    const tips = { confirmed: 40, finalized: 8 };
    let calls = 0;
    const mesh: Reader = {
      call: async (_, [signature] = []) => {
        calls++;
        const result = Buffer.from(`{"slot":${String(signature).startsWith('final') ? 8 : 39}}`);
        return { slot: tips.confirmed, result, value: result };
      },
    };
    const reader = new TransactionRecords({ tip: (commitment) => Object(tips)[commitment] }, 10_000);
    const read = async (signature: string, slot?: number, minSlot?: number): Promise<number> => {
      const before = calls;
      await reader.read(mesh, { signature, slot }, { commitment: 'confirmed', minSlot }, undefined);
      return calls - before;
    };
    t.strictSame([await read('final'), await read('final'), await read('final', 8)], [1, 0, 0]);
    t.equal(await read('final', undefined, 41), 1, 'a slot that is not reached');
    t.strictSame([await read('new'), await read('new'), await read('new', 39), await read('new', 38)], [1, 1, 0, 1]);
    for (let i = 0; i < 100; i++) await read(`other ${i}`);
    t.equal(await read('final'), 1, 'the bytes are bounded');
    const reading = read('final 2');
    reader.dropUnagreed();
    await reading;
    t.equal(await read('final 2'), 1, 'after a lie none is kept that was being read');
  });

  t.test('each read of a transaction counts for its length, kept or not', async (t) => {
    const record = Buffer.from(`{"slot":8,"data":"${'x'.repeat(149 * 1024)}"}`);
    const mesh: Reader = { call: async () => ({ slot: 8, result: record, value: record }) };
    const reader = new TransactionRecords({ tip: () => 8 }, 1_000_000);
    const cost = new RequestCost('me', true);
    const at = { commitment: 'finalized', minSlot: undefined } as const;
    for (let read = 1; read <= 3; read++) {
      await reader.readAll(mesh, [{ signature: 's', slot: undefined }], at, cost);
      t.equal(cost.rows, 150 * read);
    }
    t.equal(unitsOfUpstream(cost), 4);
  });

  t.test('a record keeps its digits; what old ones leave out is null', async (t) => {
    const old = Buffer.from('{"slot":5,"transaction":{"b":18446744073709551615,"a":1.0}}');
    t.strictSame(await parseTransactionRecord(old), {
      slot: 5,
      blockTime: null,
      transactionIndex: null,
      version: null,
      transaction: '{"a":1.0,"b":18446744073709551615}',
      meta: 'null',
    });
    const version = async (spelled: string): Promise<unknown> =>
      (await parseTransactionRecord(Buffer.from(`{"slot":5,"transaction":[],"version":${spelled}}`))).version;
    t.strictSame([await version('"legacy"'), await version('0'), await version('1')], ['legacy', 0, 1]);
    for (const spelled of ['"newest"', '-1.5', '{}']) await t.rejects(version(spelled), { code: 'upstream_error' });
    await t.rejects(parseTransactionRecord(Buffer.from('{"slot":5}')), { code: 'upstream_error' });
  });
});

t.test('written-accounts', async (t) => {
  const transaction = (err: unknown, ...names: string[]) => ({
    transaction: { accountKeys: names.map((pubkey) => ({ pubkey, writable: pubkey !== 'read' })) },
    meta: { err, postTokenBalances: names.slice(1).map((_, i) => ({ accountIndex: i + 1, programId: 'token' })) },
  });
  const writtenIn = async (...transactions: object[]): Promise<object> => {
    const rewards = [{ pubkey: 'leader' }];
    const block = { blockhash: 'b', parentSlot: 6, previousBlockhash: 'a', rewards, transactions };
    const result = Buffer.from(JSON.stringify(block));
    const { written } = await readWrittenAccounts({ call: async () => ({ slot: 7, result, value: result }) }, 7);
    return Object.fromEntries(written);
  };

  t.test('a block that does not show its transactions or its rewards is refused', async (t) => {
    const block = { blockhash: 'b', parentSlot: 6, previousBlockhash: 'a', rewards: [], transactions: [] };
    for (const name of ['rewards', 'transactions']) {
      const result = Buffer.from(JSON.stringify({ ...block, [name]: undefined }));
      const call = async () => ({ slot: 7, result, value: result });
      await t.rejects(readWrittenAccounts({ call }, 7), { code: 'upstream_error' });
      const isFeedShown = readWrittenAccounts({ call }, 7, true);
      if (name === 'rewards')
        t.match(await isFeedShown, { blockhash: 'b' }, 'transactions are enough to know a feed by');
      else await t.rejects(isFeedShown, { code: 'upstream_error' });
    }
  });

  t.test('a large block is parsed in many turns of the event loop', async (t) => {
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const names = Array.from({ length: 30 }, (_, i) => `${i}`.padStart(44, 'x'));
    const many = Array.from({ length: 300 }, () => transaction(null, ...names));
    await writtenIn(...many).finally(() => clearImmediate(next));
    t.ok(turns > 20, `${JSON.stringify(many).length} characters in ${turns} turns`);
  });

  t.test('of a failed transaction only the fee payer is certainly written', async (t) => {
    const failed = transaction({ InstructionError: [0, 'x'] }, 'payer', 'tokens', 'shared', 'read');
    const succeeded = transaction(null, 'other', 'shared');
    const expected = { leader: '', payer: SYSTEM_PROGRAM, tokens: '', shared: 'token', other: SYSTEM_PROGRAM };
    t.strictSame(await writtenIn(failed, succeeded), expected);
    t.strictSame(await writtenIn(succeeded, failed), expected, 'in any order');
  });
});
