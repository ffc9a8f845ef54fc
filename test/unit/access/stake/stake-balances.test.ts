import fc from 'fast-check';
import t from 'tap';
import { StakeBalances } from '../../../../src/access/stake/stake-balances.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const HOLD_S = 600;
const STEP = 100n;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates wallets whose balances the test sets, and their sampler. */
function stakeBalancesOf({ wallets: maxWallets = 1000, dice = 0.5 } = {}) {
  const clock = new ManualClock();
  const balances = new Map<string, bigint>();
  const state = { down: false, reads: 0 };
  const problems: unknown[] = [];
  const stakeBalances = new StakeBalances({
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
  /** Lets time pass while callers use these wallets each second. */
  const pass = async (seconds: number, ...asked: string[]): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      for (const wallet of asked) stakeBalances.balanceOf(wallet);
      clock.advance(1000);
      await settle();
    }
  };
  return { clock, balances, state, problems, stakeBalances, pass };
}

t.test('a wallet counts nothing until it has been sampled for the whole time', async (t) => {
  const { balances, stakeBalances, pass } = stakeBalancesOf();
  balances.set('w', 1000n);
  t.equal(stakeBalances.balanceOf('w'), 0n);
  await pass(HOLD_S, 'w');
  t.equal(stakeBalances.balanceOf('w'), 0n, 'the first sample came a moment after the first request');
  await pass(1, 'w');
  t.equal(stakeBalances.balanceOf('w'), 1000n);
});

t.test('the lowest balance of that time counts', async (t) => {
  const { balances, stakeBalances, pass } = stakeBalancesOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  balances.set('w', 400n);
  await pass(60, 'w');
  t.equal(stakeBalances.balanceOf('w'), 400n, 'a lower balance counts as soon as it is sampled');
  balances.set('w', 5000n);
  await pass(HOLD_S - 60, 'w');
  t.equal(stakeBalances.balanceOf('w'), 400n, 'a higher one does not');
  await pass(120, 'w');
  t.equal(stakeBalances.balanceOf('w'), 5000n);
});

t.test('tokens that move from wallet to wallet count for none of them', async (t) => {
  const { balances, stakeBalances, pass } = stakeBalancesOf();
  const all = ['a', 'b', 'c'];
  for (let round = 0; round < 30; round++) {
    for (const owner of all) {
      for (const wallet of all) balances.set(wallet, wallet === owner ? 10_000n : 0n);
      await pass(60, ...all);
      t.same(
        all.map((wallet) => stakeBalances.balanceOf(wallet)),
        [0n, 0n, 0n],
      );
    }
  }
});

t.test('the result never exceeds the lowest balance of the time, and equals it while it is constant', async () => {
  const moves = fc.array(
    fc.record({ seconds: fc.integer({ min: 1, max: 900 }), balance: fc.bigInt({ min: 0n, max: 9n }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(moves, fc.double({ min: 0, max: 1, noNaN: true }), async (moves, dice) => {
      const { balances, stakeBalances, pass } = stakeBalancesOf({ dice });
      let longest = 0;
      for (const { seconds, balance } of moves) {
        balances.set('w', balance);
        await pass(seconds, 'w');
        const held = stakeBalances.balanceOf('w');
        // Samples are at most 45 seconds apart, so after that the newest is of this balance.
        if (seconds > 46 && held > balance) return false;
        if (seconds > HOLD_S + 92 && held !== balance) return false;
        longest = Math.max(longest, seconds);
      }
      return stakeBalances.size === 1;
    }),
    { numRuns: 15 },
  );
});

t.test('an unused wallet is dropped and starts again', async (t) => {
  const { balances, stakeBalances, pass, state } = stakeBalancesOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  await pass(HOLD_S + 2);
  t.equal(stakeBalances.size, 0);
  const { reads } = state;
  await pass(60);
  t.equal(state.reads, reads, 'unused wallets cause no reads');
  t.equal(stakeBalances.balanceOf('w'), 0n);
});

t.test('while reads fail wallets keep their balance for a while, and one problem is reported', async (t) => {
  const { balances, stakeBalances, pass, state, problems } = stakeBalancesOf();
  balances.set('w', 1000n);
  await pass(HOLD_S + 1, 'w');
  state.down = true;
  await pass(300, 'w');
  t.equal(stakeBalances.balanceOf('w'), 1000n);
  t.equal(problems.length, 1);
  await pass(HOLD_S, 'w');
  t.equal(stakeBalances.balanceOf('w'), 0n, 'but no longer than the required time');
  t.equal(stakeBalances.balanceInUse('w'), undefined, 'whoever uses it already loses nothing by that');
  state.down = false;
  await pass(60, 'w');
  t.equal(stakeBalances.balanceOf('w'), 0n, 'the time in between is unknown');
  t.equal(stakeBalances.balanceInUse('w'), 1000n);
  await pass(HOLD_S, 'w');
  t.equal(stakeBalances.balanceOf('w'), 1000n);
});

t.test('the number of wallets is limited; one below a step is evicted', async (t) => {
  const { balances, stakeBalances, pass } = stakeBalancesOf({ wallets: 3 });
  balances.set('rich', STEP);
  for (const wallet of ['rich', 'poor', 'poorer']) stakeBalances.balanceOf(wallet);
  t.equal(stakeBalances.balanceOf('early'), 0n);
  t.equal(stakeBalances.balanceInUse('early'), 0n, 'a wallet that is not sampled counts nothing');
  t.equal(stakeBalances.size, 3, 'a wallet without a sample stays');
  await pass(1, 'rich');
  for (let i = 0; i < 100; i++) {
    stakeBalances.balanceOf(`other ${i}`);
    await pass(1, 'rich');
  }
  t.equal(stakeBalances.size, 3);
  await pass(HOLD_S, 'rich');
  t.equal(stakeBalances.balanceOf('rich'), STEP, 'a wallet with enough stays');
});

t.test('callers can not cause more reads than the limit', async (t) => {
  const { stakeBalances, pass, state } = stakeBalancesOf();
  for (let i = 0; i < 1000; i++) stakeBalances.balanceOf(`wallet ${i}`);
  await pass(10);
  t.ok(state.reads <= 11 * 40, `${state.reads} reads in ten seconds`);
});

t.test('a closed one reads nothing more', async (t) => {
  const { stakeBalances, pass, state } = stakeBalancesOf();
  stakeBalances.balanceOf('w');
  stakeBalances.close();
  await pass(60, 'w', 'x');
  t.equal(state.reads, 0);
});
