import fc from 'fast-check';
import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
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
  /** Further accounts, neither written nor signing. */
  readonly also?: readonly string[];
  readonly signers?: number;
}

let made = 0;

/** Builds a transaction in the form of `transactionDetails: "accounts"`. */
function transaction({ vote = false, fee = 5000n, err = null, units, version, also = [], signers = 1 }: Made): Buffer {
  const key = (pubkey: string, signer: boolean, writable: boolean): object => ({
    pubkey,
    signer,
    source: 'transaction',
    writable,
  });
  const accountKeys = [
    ...Array.from({ length: signers }, (_, i) => key(`signer${i}`, true, true)),
    key('account', false, true),
    key(vote ? VOTE : SYSTEM, false, false),
    ...also.map((address) => key(address, false, false)),
  ];
  const meta = { err, fee, computeUnitsConsumed: units, preBalances: [18446744073709551615n], rewards: null };
  const signatures = [`signature${made++}`, '"} ,]['];
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
    { pubkey: 'leader', lamports: 9007199254740993n, postBalance: 1, rewardType: 'Fee', commission: null },
  ];
  const block = (more: object): Buffer => Buffer.from(toJson({ ...head, ...more, transactions: [] }));
  t.match(await summarizeBlock(block({ rewards, blockTime: 1, blockHeight: 2 })), {
    leader: 'leader',
    rewardLamports: 9007199254740993n,
    blockTime: 1,
    blockHeight: 2,
    transactions: { count: 0 },
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
