import fc from 'fast-check';
import t from 'tap';
import { toSol } from '../../../src/domain/sol-amount.ts';

t.test('an amount in SOL has the digits it needs and no more', async (t) => {
  for (const [lamports, sol] of [
    [0n, '0'],
    [1n, '0.000000001'],
    [10n, '0.00000001'],
    [500_000_000n, '0.5'],
    [1_000_000_000n, '1'],
    [1_000_000_001n, '1.000000001'],
    [9_007_199_254_740_993n, '9007199.254740993'],
    [2n ** 64n - 1n, '18446744073.709551615'],
  ] as const)
    t.equal(toSol(lamports), sol);
});

t.test('lamports and SOL are equal for every u64', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (lamports) => {
      const [whole = '', fraction = ''] = toSol(lamports).split('.');
      return BigInt(whole + fraction.padEnd(9, '0')) === lamports && /^\d+(\.\d{0,8}[1-9])?$/.test(toSol(lamports));
    }),
  );
  t.pass();
});
