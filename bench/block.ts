import { membersYielding } from '../src/upstream/json/raw-json.ts';
import { summarizeBlock } from '../src/upstream/reads/block-summary.ts';
import { Bench, interleave } from './support/bench.ts';

// Longest event-loop delay while a block of mainnet's size is read as the gateway does, and while it is parsed at once.

const TRANSACTIONS = 1500;
const VOTES = 1000;
const VOTE = 'Vote111111111111111111111111111111111111111';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

const pubkey = (i: number): string => `${i}`.padStart(44, 'A');
const key = (pubkey: string, signer: boolean, writable: boolean): object => ({
  pubkey,
  signer,
  source: 'transaction',
  writable,
});

function transaction(i: number): object {
  const isVote = i < VOTES;
  const written = Array.from({ length: isVote ? 1 : 35 }, (_, n) => key(pubkey(i * 64 + n), false, true));
  const accountKeys = [key(pubkey(i), true, true), ...written, key(isVote ? VOTE : TOKEN, false, false)];
  const tokens = Array.from({ length: isVote ? 0 : 8 }, (_, accountIndex) => ({
    accountIndex,
    mint: pubkey(i),
    owner: pubkey(accountIndex),
    programId: TOKEN,
    uiTokenAmount: { amount: '123456789', decimals: 6, uiAmount: 123.456789, uiAmountString: '123.456789' },
  }));
  const balances = accountKeys.map(() => 2_039_280);
  const meta = {
    err: null,
    fee: 5000,
    postBalances: balances,
    postTokenBalances: tokens,
    preBalances: balances,
    preTokenBalances: tokens,
    status: { Ok: null },
  };
  return { meta, transaction: { accountKeys, signatures: [pubkey(i).repeat(2)] }, version: isVote ? 'legacy' : 0 };
}

const block = {
  blockHeight: 300_000_000,
  blockTime: 1_700_000_000,
  blockhash: pubkey(1),
  parentSlot: 320_000_000,
  previousBlockhash: pubkey(0),
  rewards: [{ pubkey: pubkey(7), lamports: 12_345_678, postBalance: 1, rewardType: 'Fee', commission: null }],
  transactions: Array.from({ length: TRANSACTIONS }, (_, i) => transaction(i)),
};
const body = Buffer.from(`{"jsonrpc":"2.0","result":${JSON.stringify(block)},"id":1}`);

interface TurnTimes {
  readonly wholeMs: number;
  readonly longestTurnMs: number;
}

/** Runs `work` while another task takes a turn as often as it can. */
async function measureTurns(work: () => Promise<unknown>): Promise<TurnTimes> {
  let isDone = false;
  let longestTurnMs = 0;
  const startedMs = performance.now();
  const waiting = new Promise<void>((resolve) => {
    let lastMs = startedMs;
    const turn = (): void => {
      const nowMs = performance.now();
      longestTurnMs = Math.max(longestTurnMs, nowMs - lastMs);
      lastMs = nowMs;
      if (isDone) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
  await work();
  const wholeMs = performance.now() - startedMs;
  isDone = true;
  await waiting;
  return { wholeMs, longestTurnMs };
}

const measureSliced = (): Promise<TurnTimes> =>
  measureTurns(async () => {
    const answer = await membersYielding(body); // as the gateway cuts it out of the node's answer
    await summarizeBlock(answer.get('result') ?? Buffer.alloc(0));
  });
const measureParsed = (): Promise<TurnTimes> => measureTurns(async () => JSON.parse(body.toString()));

const bench = new Bench({ rounds: 21, seconds: 1 });
const samples = await interleave(bench.rounds, {
  'longest wait, read in slices': async () => ({ value: (await measureSliced()).longestTurnMs }),
  'the whole of it, read in slices': async () => ({ value: (await measureSliced()).wholeMs }),
  'longest wait, JSON.parse': async () => ({ value: (await measureParsed()).longestTurnMs }),
});
console.log(
  `a block of ${(body.length / 1e6).toFixed(1)} MB, ${TRANSACTIONS} transactions; ms, ${bench.rounds} rounds`,
);
bench.figures(samples);
const sliced = samples['longest wait, read in slices'];
bench.ratio('value', ['longest wait, in slices', sliced], ['JSON.parse', samples['longest wait, JSON.parse']]);
bench.value(
  'longest wait, read in slices',
  'ms',
  sliced.map(({ value }) => value),
  { atMost: 20 },
);
bench.end();
