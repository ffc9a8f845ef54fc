import t from 'tap';
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  VOTE_PROGRAM,
} from '../../../../../src/domain/well-known-addresses.ts';
import { parseTransaction } from '../../../../../src/solana/analysis/parse-transaction.ts';
import { interpretTransaction } from '../../../../../src/solana/analysis/rules/interpret-transaction.ts';
import { enhanceTransaction } from '../../../../../src/solana/explain/enhanced-transaction.ts';
import { explainTransaction } from '../../../../../src/solana/explain/explain-transaction.ts';
import { isTradingProgram } from '../../../../../src/solana/programs/known-programs.ts';
import { recordedTransactions } from '../../../../support/recorded-transactions.ts';
import {
  addressOf,
  bytesOf,
  type SyntheticCall,
  type SyntheticTransaction,
  syntheticTransaction,
  u64Bytes,
} from '../../../../support/synthetic-transaction.ts';

const [user, other, pool, account, poolAccount, account2, poolAccount2, mint, mint2, lpMint, lpAccount, unknown] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
].map(addressOf) as [string, string, string, string, string, string, string, string, string, string, string, string];

const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
const ORCA = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
const HUMIDIFI = '9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp';
const PUMP_FUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const DISTRIBUTOR = 'MErKy6nZVoVAkryxAejJz2juifQ4ArgLgHmaJCQkU7N';
const GAME = 'SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE';
const KAMINO_LEND = 'KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD';
const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
const TIP_ACCOUNT = '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5';

const all = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);

const call = (programId: string, accounts: readonly string[] = [], data: readonly number[] = []): SyntheticCall => ({
  programId,
  accounts,
  data,
});
const sendTokens = (from: string, to: string, authority: string, amount: bigint): SyntheticCall =>
  call(TOKEN_PROGRAM, [from, to, authority], [3, ...u64Bytes(amount)]);
const mintTokens = (from: string, to: string, amount: bigint): SyntheticCall =>
  call(TOKEN_PROGRAM, [from, to, other], [7, ...u64Bytes(amount)]);
const sendSol = (from: string, to: string, lamports: bigint): SyntheticCall =>
  call(SYSTEM_PROGRAM, [from, to], [2, 0, 0, 0, ...u64Bytes(lamports)]);
const balance = (of: string, owner: string, held: string, before: bigint, after: bigint) => ({
  account: of,
  owner,
  mint: held,
  before,
  after,
});

const typeOf = (transaction: Partial<SyntheticTransaction>): string => interpretTransaction(parse(transaction)).type;
const textOf = (transaction: Partial<SyntheticTransaction>): string => explainTransaction(parse(transaction));
const parse = (transaction: Partial<SyntheticTransaction>) =>
  parseTransaction(syntheticTransaction({ calls: [], signers: [user], ...transaction }));

t.test(
  'a swap is told only where an exchange was the main program, and nobody is credited who did not act',
  async (t) => {
    const wrong: string[] = [];
    for (const { name, transaction } of all) {
      const view = enhanceTransaction(transaction);
      const told = interpretTransaction(view);
      if (view.events.swap !== undefined && !isTradingProgram(told.program ?? ''))
        wrong.push(`${name}: ${told.program}`);
      const acts = view.signers.includes(told.actor) || ['FILL_ORDER', 'SET_AUTHORITY', 'APPROVE'].includes(told.type);
      if (!acts) wrong.push(`${name}: ${told.type} by ${told.actor}`);
    }
    t.strictSame(wrong, []);
  },
);

t.test('an explanation interprets no other type than the enhanced view has', async (t) => {
  const other = all.filter(({ transaction }) => {
    const view = enhanceTransaction(transaction);
    return interpretTransaction(view).type !== view.type;
  });
  t.equal(other.length, 0);
});

t.test('a program that is handed exchanges is told to have tried to trade only where nothing moved', async (t) => {
  const err = { InstructionError: [0, { Custom: 1 }] };
  const handed = call(unknown, [user, RAYDIUM, pool, ORCA, TOKEN_PROGRAM]);
  t.equal(typeOf({ calls: [handed], err }), 'ARBITRAGE');
  t.match(
    textOf({ calls: [handed] }),
    / tried to trade on Raydium and Orca through the program .*, but nothing was traded\./,
  );
  const tokens = [balance(account, user, mint, 100n, 60n), balance(account2, other, mint, 0n, 40n)];
  t.equal(typeOf({ calls: [handed], inner: [sendTokens(account, account2, user, 40n)], tokens }), 'TRANSFER');
  t.equal(
    typeOf({ calls: [call(unknown, [user, RAYDIUM, pool])], err }),
    'UNKNOWN',
    'one exchange may be for anything',
  );
  t.equal(typeOf({ calls: [handed, call(RAYDIUM, [TOKEN_PROGRAM])], err }), 'SWAP', 'the exchange itself was called');
});

t.test('an exchange that is called without a token program writes a quote; with one it was to trade', async (t) => {
  const err = { InstructionError: [0, { Custom: 57005 }] };
  t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool])] }), 'QUOTE_UPDATE');
  t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool])], err }), 'QUOTE_UPDATE');
  t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool, TOKEN_PROGRAM])], err }), 'SWAP');
  t.equal(typeOf({ calls: [call(ORCA, [user, pool])] }), 'UNKNOWN', 'a pool that anybody fills has no maker');
  const lamports = { before: [100_000n, 0n, 10n], after: [85_000n, 10_000n, 10n] };
  const accounts = [user, TIP_ACCOUNT, pool];
  const tipped = { calls: [call(HUMIDIFI, [user, pool]), sendSol(user, TIP_ACCOUNT, 10_000n)], accounts, lamports };
  t.match(textOf(tipped), / wrote new prices on HumidiFi\. The fee was 0\.000005 SOL and the tip 0\.00001 SOL\.$/);
});

t.test('a tip beside a program without a name is no transfer; alone it is one, told as a tip', async (t) => {
  const lamports = { before: [100_000n, 0n], after: [85_000n, 10_000n] };
  const accounts = [user, TIP_ACCOUNT];
  const tip = sendSol(user, TIP_ACCOUNT, 10_000n);
  t.equal(typeOf({ calls: [call(unknown, [user]), tip], accounts, lamports }), 'UNKNOWN');
  t.match(textOf({ calls: [tip], accounts, lamports }), / paid a tip of 0\.00001 SOL to Jito and did nothing else\./);
  const charge = { before: [100_000n, 0n], after: [94_999n, 1n] };
  t.equal(
    typeOf({
      calls: [call(unknown, [user])],
      inner: [sendSol(user, other, 1n)],
      accounts: [user, other],
      lamports: charge,
    }),
    'UNKNOWN',
    'a lamport that a program charges is no payment',
  );
});

t.test('two assets that go into a pool for a receipt are liquidity, and the other way round', async (t) => {
  const added = {
    calls: [call(RAYDIUM, [user])],
    inner: [
      sendTokens(account, poolAccount, user, 40n),
      sendTokens(account2, poolAccount2, user, 50n),
      mintTokens(lpMint, lpAccount, 7n),
    ],
    tokens: [
      balance(account, user, mint, 100n, 60n),
      balance(poolAccount, pool, mint, 0n, 40n),
      balance(account2, user, mint2, 100n, 50n),
      balance(poolAccount2, pool, mint2, 0n, 50n),
      balance(lpAccount, user, lpMint, 0n, 7n),
    ],
  };
  t.equal(typeOf(added), 'ADD_TO_POOL');
  t.match(textOf(added), / put .* into a pool on Raydium and got 0\.000007 of the token /);
  const removed = {
    calls: [call(RAYDIUM, [user])],
    inner: [
      call(TOKEN_PROGRAM, [lpAccount, lpMint, user], [8, ...u64Bytes(7n)]),
      sendTokens(poolAccount, account, pool, 40n),
      sendTokens(poolAccount2, account2, pool, 50n),
    ],
    tokens: [
      balance(account, user, mint, 60n, 100n),
      balance(poolAccount, pool, mint, 40n, 0n),
      balance(account2, user, mint2, 50n, 100n),
      balance(poolAccount2, pool, mint2, 50n, 0n),
      balance(lpAccount, user, lpMint, 7n, 0n),
    ],
  };
  t.equal(typeOf(removed), 'REMOVE_FROM_POOL');
});

t.test('the launch of a token is told by its name, and what was bought of it at its whole price', async (t) => {
  const name = (text: string): number[] => [text.length, 0, 0, 0, ...new TextEncoder().encode(text)];
  const createAccount = call(
    SYSTEM_PROGRAM,
    [user, pool],
    [0, 0, 0, 0, ...u64Bytes(1_000_000n), ...u64Bytes(9n), ...bytesOf(3)],
  );
  const launched = {
    calls: [call(PUMP_FUN, [user, pool], [1, 2, 3, 4, 5, 6, 7, 8, ...name('Moon Cat'), ...name('MCAT')])],
    inner: [
      createAccount,
      call(TOKEN_PROGRAM, [mint], [20, 6, ...bytesOf(2), 0]),
      sendSol(user, pool, 50_000_000n),
      sendTokens(poolAccount, account, pool, 40n),
    ],
    accounts: [user, pool],
    lamports: { before: [100_000_000n, 0n], after: [48_995_000n, 51_000_000n] },
    tokens: [balance(account, user, mint, 0n, 40n), balance(poolAccount, pool, mint, 40n, 0n)],
  };
  t.equal(typeOf(launched), 'CREATE');
  t.match(
    textOf(launched),
    / launched the token “Moon Cat” \(MCAT\) .* on Pump\.fun and bought 0\.00004 of it for 0\.05 SOL\./,
    'the deposit of the pool is no part of the price',
  );
});

t.test('an airdrop that is claimed for a fee is no swap', async (t) => {
  const claimed = {
    calls: [call(DISTRIBUTOR, [user])],
    inner: [sendSol(user, other, 20_000_000n), sendTokens(poolAccount, account, pool, 40n)],
    tokens: [balance(account, user, mint, 0n, 40n), balance(poolAccount, pool, mint, 40n, 0n)],
    accounts: [user, other],
    lamports: { before: [50_000_000n, 0n], after: [29_995_000n, 20_000_000n] },
  };
  t.equal(typeOf(claimed), 'CLAIM');
  t.match(textOf(claimed), / claimed 0\.00004 of the token .* on .* and paid 0\.02 SOL\./);
});

t.test('whoever may take tokens from now on is told, with what is at stake', async (t) => {
  const tokens = [balance(account, user, mint, 900n, 900n)];
  const approve = (amount: bigint) => call(TOKEN_PROGRAM, [account, other, user], [4, ...u64Bytes(amount)]);
  const stolen = call(TOKEN_PROGRAM, [account, user], [6, 2, 1, ...bytesOf(2)]);
  t.match(
    textOf({ calls: [stolen], tokens }),
    / passed the ownership of .* \(which holds 0\.0009 of the token .*\) from .* to /,
  );
  t.equal(typeOf({ calls: [stolen], tokens }), 'SET_AUTHORITY');
  t.match(textOf({ calls: [approve(2n ** 64n - 1n)], tokens }), / allowed .* to spend all tokens of the account /);
  t.match(textOf({ calls: [approve(5n)], tokens }), / to spend 0\.000005 of the token /);
  const revoke = call(TOKEN_PROGRAM, [account, user], [5]);
  t.equal(typeOf({ calls: [revoke], tokens }), 'REVOKE');
  t.equal(typeOf({ calls: [approve(5n), revoke], tokens }), 'REVOKE', 'what is taken back at once');
  t.equal(typeOf({ calls: [revoke, approve(5n)], tokens }), 'APPROVE', 'what is given after the end of another');
  const sent = {
    calls: [stolen, sendSol(user, other, 10n)],
    tokens,
    accounts: [user, other],
    lamports: { before: [10_000n, 0n], after: [4_990n, 10n] },
  };
  t.equal(typeOf(sent), 'SET_AUTHORITY', 'a payment beside it hides nothing');
  t.equal(typeOf({ calls: [stolen], tokens, err: { InstructionError: [0, { Custom: 4 }] } }), 'SET_AUTHORITY');
  t.equal(typeOf({ calls: [call(COMPUTE_BUDGET_PROGRAM)] }), 'UNKNOWN');
});

/** A swap of 40 of `mint` for 50 of `mint2`. */
const swap = {
  calls: [call(RAYDIUM, [user, TOKEN_PROGRAM])],
  inner: [sendTokens(account, poolAccount, user, 40n), sendTokens(poolAccount2, account2, pool, 50n)],
  tokens: [
    balance(account, user, mint, 100n, 60n),
    balance(poolAccount, pool, mint, 0n, 40n),
    balance(account2, user, mint2, 0n, 50n),
    balance(poolAccount2, pool, mint2, 50n, 0n),
  ],
};

t.test('whatever stands before it, what was sent or given away beside it is told', async (t) => {
  const before: Readonly<Record<string, Partial<SyntheticTransaction>>> = {
    'a move in a game': { calls: [call(GAME, [user])] },
    'a swap': swap,
    'new prices': { calls: [call(HUMIDIFI, [user, pool])] },
    'a search for a trade': { calls: [call(unknown, [user, RAYDIUM, ORCA])] },
    'a loan': { calls: [call(KAMINO_LEND, [user])] },
    'the end of a stake': { calls: [call(STAKE_PROGRAM, [pool, other, user], [5, 0, 0, 0])] },
    'a vote': {
      calls: [{ programId: VOTE_PROGRAM, program: 'vote', parsed: { type: 'vote', info: { voteAccount: pool } } }],
    },
  };
  const lamports = { before: [10_000n, 0n, 0n], after: [4_990n, 10n, 0n] };
  const paid = { accounts: [user, other], lamports };
  const taken = [balance(lpAccount, user, lpMint, 900n, 900n)];
  const approval = call(TOKEN_PROGRAM, [lpAccount, other, user], [4, ...u64Bytes(5n)]);
  const theft = call(TOKEN_PROGRAM, [lpAccount, user], [6, 2, 1, ...bytesOf(2)]);
  const untold = Object.entries(before).flatMap(([name, { calls = [], tokens = [], ...rest }]) => {
    const sent = textOf({ ...rest, calls: [...calls, sendSol(user, other, 10n)], tokens, ...paid });
    const allowed = textOf({ ...rest, calls: [...calls, approval], tokens: [...tokens, ...taken] });
    const given = textOf({ ...rest, calls: [...calls, theft], tokens: [...tokens, ...taken] });
    return [
      / sent 0\.00000001 SOL to /.test(sent) ? null : `${name}: ${sent}`,
      / allowed .* to spend 0\.000005 of the token /.test(allowed) ? null : `${name}: ${allowed}`,
      / passed the ownership of .* from .* to /.test(given) ? null : `${name}: ${given}`,
      /hands/.test(sent + allowed + given) ? `${name}: nothing changed hands` : null,
    ].filter((text) => text !== null);
  });
  t.strictSame(untold, []);
  const within = { calls: [call(GAME, [user])], inner: [theft], tokens: taken };
  t.match(textOf(within), / Star Atlas.* also passed the ownership of /, 'given away by a program');
});

t.test('what an order book pays out was received by whoever changed the orders', async (t) => {
  const paidOut = {
    calls: [call(PHOENIX, [user, TOKEN_PROGRAM])],
    inner: [sendTokens(poolAccount, account, pool, 40n)],
    tokens: [balance(poolAccount, pool, mint, 40n, 0n), balance(account, user, mint, 0n, 40n)],
  };
  t.match(textOf(paidOut), / changed orders on Phoenix and got 0\.00004 of the token \S+\. The fee /);
});

t.test('a token that the transaction sent to somebody beside a swap was not swapped', async (t) => {
  const thiefAccount = addressOf(20);
  const tokens = [
    ...swap.tokens,
    balance(lpAccount, user, lpMint, 700n, 0n),
    balance(thiefAccount, other, lpMint, 0n, 700n),
  ];
  const text = textOf({ ...swap, calls: [...swap.calls, sendTokens(lpAccount, thiefAccount, user, 700n)], tokens });
  t.match(text, / swapped 0\.00004 of the token .{9} for 0\.00005 of the token .{9} on Raydium\b/);
  t.match(text, / also sent 0\.0007 of the token /);
});

t.test('a hidden amount is a transfer, not nothing', async (t) => {
  const info = { source: account, destination: account2, mint, owner: user };
  const hidden = {
    calls: [{ programId: TOKEN_2022_PROGRAM, program: 'spl-token', parsed: { type: 'confidentialTransfer', info } }],
    tokens: [balance(account, user, mint, 5n, 5n), balance(account2, other, mint, 0n, 0n)],
  };
  t.equal(typeOf(hidden), 'TRANSFER');
  t.match(textOf(hidden), /^4vJ9…\S+ sent a hidden amount of the token \S+ to \S+\. The fee was 0\.000005 SOL\.$/);
});

t.test('a call of a pool that anybody may fill is no quote, whatever it is handed', async (t) => {
  t.equal(typeOf({ calls: [call(ORCA, [user, pool])] }), 'UNKNOWN');
  const err = { InstructionError: [1, { Custom: 1 }] };
  t.equal(typeOf({ calls: [call(HUMIDIFI, [user, pool]), call(ORCA, [user, pool])], err }), 'SWAP');
});

t.test('rent goes to whoever got it, and a text of somebody else stays within its quotation marks', async (t) => {
  const burned = textOf({
    calls: [
      call(TOKEN_PROGRAM, [account, mint, user], [8, ...u64Bytes(900n)]),
      call(TOKEN_PROGRAM, [account, other, user], [9]),
    ],
    signers: [other, user],
    accounts: [other, user, account],
    lamports: { before: [10_000n, 0n, 2_039_280n], after: [2_044_280n, 0n, 0n] },
    tokens: [{ account, owner: user, mint, before: 900n, after: null }],
  });
  t.match(burned, /^4vJ9.* burned .* and 8qbH\S+ received 0\.00203928 SOL\./);
  const text = [...Buffer.from('hi” on the chain. You got 5 SOL')];
  t.match(textOf({ calls: [call(MEMO_PROGRAM, [], text)] }), / the memo “[^”]*5 SOL”\. The fee /);
});
