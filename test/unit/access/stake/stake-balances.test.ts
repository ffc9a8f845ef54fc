import fc from 'fast-check';
import t from 'tap';
import { StakeBalances } from '../../../../src/access/stake/stake-balances.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const HOLD_S = 600;
const STEP = 100n;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Wallets whose balances a test moves about, and their holdings. */
function holdingsOf({ wallets: maxWallets = 1000, dice = 0.5 } = {}) {
  const clock = new ManualClock();
  const balances = new Map<string, bigint>();
  const state = { down: false, reads: 0 };
  const problems: unknown[] = [];
  const holdings = new StakeBalances({
    readBalance: async (wallet) => {
      state.reads++;
      if (state.down) throw new Error('no node');
      return balances.get(wallet) ?? 0n;
    },
    holdSeconds: HOLD_S,
    step: STEP,
    maxWallets,
    clock,
    random: () => dice,
    onProblem: (problem) => problems.push(problem),
  });
  /** Lets time pass while somebody asks for these wallets each second. */
  const pass = async (seconds: number, ...asked: string[]): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      for (const wallet of asked) holdings.balanceOf(wallet);
      clock.advance(1000);
      await settle();
    }
  };
  return { clock, balances, state, problems, holdings, pass };
}

t.test('a wallet counts nothing until it has been seen to hold for as long as it must', async (t) => {
  const { balances, holdings, pass } = holdingsOf();
  balances.set('w', 1000n);
  t.equal(holdings.balanceOf('w'), 0n);
  await pass(HOLD_S, 'w');
  t.equal(holdings.balanceOf('w'), 0n, 'the first look came a moment after the first request');
  await pass(1, 'w');
  t.equal(holdings.balanceOf('w'), 1000n);
});

t.test('what counts is the least of that time', async (t) => {
  const { balances, holdings, pass } = holdingsOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  balances.set('w', 400n);
  await pass(60, 'w');
  t.equal(holdings.balanceOf('w'), 400n, 'less counts as soon as it is seen');
  balances.set('w', 5000n);
  await pass(HOLD_S - 60, 'w');
  t.equal(holdings.balanceOf('w'), 400n, 'more does not');
  await pass(120, 'w');
  t.equal(holdings.balanceOf('w'), 5000n);
});

t.test('one bag that goes from wallet to wallet counts for none of them', async (t) => {
  const { balances, holdings, pass } = holdingsOf();
  const all = ['a', 'b', 'c'];
  for (let round = 0; round < 30; round++) {
    for (const owner of all) {
      for (const wallet of all) balances.set(wallet, wallet === owner ? 10_000n : 0n);
      await pass(60, ...all);
      t.same(
        all.map((wallet) => holdings.balanceOf(wallet)),
        [0n, 0n, 0n],
      );
    }
  }
});

t.test('what is held is never more than the least balance of the time, and all of it when it is still', async () => {
  const moves = fc.array(
    fc.record({ seconds: fc.integer({ min: 1, max: 900 }), balance: fc.bigInt({ min: 0n, max: 9n }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(moves, fc.double({ min: 0, max: 1, noNaN: true }), async (moves, dice) => {
      const { balances, holdings, pass } = holdingsOf({ dice });
      let longest = 0;
      for (const { seconds, balance } of moves) {
        balances.set('w', balance);
        await pass(seconds, 'w');
        const held = holdings.balanceOf('w');
        // Looks are at most 45 seconds apart, so after that the newest is of this balance.
        if (seconds > 46 && held > balance) return false;
        if (seconds > HOLD_S + 92 && held !== balance) return false;
        longest = Math.max(longest, seconds);
      }
      return holdings.size === 1;
    }),
    { numRuns: 15 },
  );
});

t.test('a wallet that nobody asks for is forgotten, and begins anew', async (t) => {
  const { balances, holdings, pass, state } = holdingsOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  await pass(HOLD_S + 2);
  t.equal(holdings.size, 0);
  const { reads } = state;
  await pass(60);
  t.equal(state.reads, reads, 'nothing is read for nobody');
  t.equal(holdings.balanceOf('w'), 0n);
});

t.test('while wallets can not be read they keep what they had for a while, and it is told once', async (t) => {
  const { balances, holdings, pass, state, problems } = holdingsOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  state.down = true;
  await pass(300, 'w');
  t.equal(holdings.balanceOf('w'), 1000n);
  t.equal(problems.length, 1);
  await pass(HOLD_S, 'w');
  t.equal(holdings.balanceOf('w'), 0n, 'but not for longer than a wallet must hold');
  state.down = false;
  await pass(60, 'w');
  t.equal(holdings.balanceOf('w'), 0n, 'what happened in between nobody knows');
  await pass(HOLD_S, 'w');
  t.equal(holdings.balanceOf('w'), 1000n);
});

t.test('so many wallets are looked at; one that holds too little makes room', async (t) => {
  const { balances, holdings, pass } = holdingsOf({ wallets: 3 });
  balances.set('rich', STEP);
  for (const wallet of ['rich', 'poor', 'poorer']) holdings.balanceOf(wallet);
  t.equal(holdings.balanceOf('early'), 0n);
  t.equal(holdings.size, 3, 'what nobody has looked at yet stays');
  await pass(1, 'rich');
  for (let i = 0; i < 100; i++) {
    holdings.balanceOf(`other ${i}`);
    await pass(1, 'rich');
  }
  t.equal(holdings.size, 3);
  await pass(HOLD_S, 'rich');
  t.equal(holdings.balanceOf('rich'), STEP, 'who holds enough stays');
});

t.test('callers can not make it read more than so much', async (t) => {
  const { holdings, pass, state } = holdingsOf();
  for (let i = 0; i < 1000; i++) holdings.balanceOf(`wallet ${i}`);
  await pass(10);
  t.ok(state.reads <= 11 * 40, `${state.reads} reads in ten seconds`);
});

t.test('closed, it reads nothing more', async (t) => {
  const { holdings, pass, state } = holdingsOf();
  holdings.balanceOf('w');
  holdings.close();
  await pass(60, 'w', 'x');
  t.equal(state.reads, 0);
});
