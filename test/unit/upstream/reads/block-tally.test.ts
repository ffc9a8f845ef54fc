import fc from 'fast-check';
import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
import { TIP_ACCOUNTS } from '../../../../src/solana/programs/tip-accounts.ts';
import { summarizeBlock } from '../../../../src/upstream/reads/block-summary.ts';
import { tallyTransactions } from '../../../../src/upstream/reads/block-tally.ts';

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

const soon = async (): Promise<void> => {};

t.test('a block is counted: votes, failures, fees to the last lamport', async (t) => {
  const result = await tallyTransactions(
    [
      transaction({ vote: true, version: 'legacy' }),
      transaction({ vote: true, also: [CLOCK] }),
      transaction({ fee: 9007199254740993n }),
      transaction({ err: { InstructionError: [0, { Custom: 1 }] }, version: 0 }),
    ],
    soon,
  );
  t.match(result, { count: 4, voteCount: 2, nonVoteCount: 2, successCount: 3, failedCount: 1 });
  t.equal(result.feesLamports, 9007199254755993n);
  t.equal(result.computeUnitsConsumed, null);
  t.equal(result.signatures.length, 2);
});

t.test('priority fees and tips are told apart from the fees of signatures', async (t) => {
  const [tipAccount] = TIP_ACCOUNTS;
  const tip = (before: bigint, after: bigint): Buffer => transaction({ funded: [tipAccount ?? '', before, after] });
  const most = 2n ** 64n - 1n;
  const result = await tallyTransactions(
    [
      tip(most - 1n, most),
      tip(10n, 1_010n),
      tip(5_000n, 0n), // the builder takes what was tipped
      transaction({ funded: ['somebody', 0n, 7_000n] }),
      transaction({ fee: 10_007n }), // two signatures each
      transaction({ fee: 0n }), // a cluster that charges nothing
    ],
    soon,
  );
  t.match(result, { tipsLamports: 1_001n, priorityFeesLamports: 7n, feesLamports: 30_007n });
});

t.test('a vote is what the cluster counts as one', async (t) => {
  const votes = async (one: Made): Promise<number> => (await tallyTransactions([transaction(one)], soon)).voteCount;
  t.equal(await votes({ vote: true }), 1);
  t.equal(await votes({ vote: true, signers: 2 }), 1);
  t.equal(await votes({ vote: true, signers: 3 }), 0, 'a vote has no third signer');
  t.equal(await votes({ vote: true, version: 0 }), 0, 'votes are legacy');
  t.equal(await votes({ vote: true, also: [SYSTEM] }), 0, 'a second program: a vote account is opened');
});

t.test('compute units are summed where every record has them', async (t) => {
  const [one, two] = [transaction({ units: 150 }), transaction({ units: 300 })];
  t.equal((await tallyTransactions([one, two], soon)).computeUnitsConsumed, 450n);
  const widest = transaction({ units: 2n ** 64n - 1n });
  t.equal((await tallyTransactions([widest, two], soon)).computeUnitsConsumed, 2n ** 64n + 299n);
  t.equal((await tallyTransactions([one, transaction({}), two], soon)).computeUnitsConsumed, null);
  t.equal((await tallyTransactions([], soon)).computeUnitsConsumed, null);
});

t.test('the signatures of the first 50 non-vote transactions are listed', async (t) => {
  const many = Array.from({ length: 130 }, (_, i) => transaction({ vote: i % 2 === 0 }));
  const { signatures, nonVoteCount } = await tallyTransactions(many, soon);
  t.equal(nonVoteCount, 65);
  t.equal(signatures.length, 50);
  t.match(signatures[0], /^signature\d+$/);
});

t.test('a transaction without a status is counted, but neither as success nor as failure', async (t) => {
  const bare = Buffer.from('{"meta":null,"transaction":{"accountKeys":[],"signatures":["a"]}}');
  t.match(await tallyTransactions([bare], soon), { count: 1, successCount: 0, failedCount: 0, feesLamports: 0n });
});

t.test('however large the block, no turn of the event loop scans more than 256 KiB and one transaction', async (t) => {
  const [plain, vote] = [transaction({}), transaction({ vote: true, also: [CLOCK] })];
  const turn = 256 * 1024;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(plain, vote), { maxLength: 50 }), async (pattern) => {
      const sizes: number[] = [];
      let inThisTurn = 0;
      const block = function* (): Generator<Buffer> {
        for (let bytes = 0; bytes < 5_000_000 && pattern.length > 0; ) {
          for (const one of pattern) {
            bytes += one.length;
            inThisTurn += one.length;
            yield one;
          }
        }
      };
      await tallyTransactions(block(), async () => {
        sizes.push(inThisTurn);
        inThisTurn = 0;
      });
      const longest = Math.max(inThisTurn, ...sizes);
      return longest <= turn + Math.max(plain.length, vote.length) && (pattern.length === 0 || sizes.length >= 18);
    }),
    { numRuns: 5 },
  );
  t.pass('as the property says');
});

t.test("the leader is who has the block's fees; old blocks name no time, height or reward", async (t) => {
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
