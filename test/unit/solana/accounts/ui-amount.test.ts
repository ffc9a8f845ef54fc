import fc from 'fast-check';
import t from 'tap';
import type { Mint } from '../../../../src/solana/accounts/token-program-accounts.ts';
import { amountScaleOf, dependsOnClock, toTokenAmount } from '../../../../src/solana/accounts/ui-amount.ts';
import { formatDouble, formatRoundedDouble, formatUnits } from '../../../../src/solana/codec/format-decimal.ts';
import { recordedAmounts } from '../../../support/recorded-accounts.ts';

const YEAR = BigInt(6 * 6 * 24 * 36524);
const MAX = 2n ** 64n - 1n;

const mint = (decimals: number, extensions: Mint['extensions'] = []): Mint => ({
  type: 'mint',
  program: 'spl-token-2022',
  mintAuthority: null,
  freezeAuthority: null,
  supply: 0n,
  isInitialized: true,
  decimals,
  extensions,
});

const interest = (rate: number, started: bigint, updated: bigint): Mint['extensions'] => [
  {
    extension: 'interestBearingConfig',
    state: {
      rateAuthority: null,
      initializationTimestamp: started,
      preUpdateAverageRate: rate,
      lastUpdateTimestamp: updated,
      currentRate: rate,
    },
  },
];

const scaled = (multiplier: string, newMultiplier: string, from: bigint): Mint['extensions'] => [
  {
    extension: 'scaledUiAmountConfig',
    state: { authority: null, multiplier, newMultiplierEffectiveTimestamp: from, newMultiplier },
  },
];

t.test('recorded amounts are formatted as the nodes did', async (t) => {
  t.ok(recordedAmounts.length > 100);
  for (const recorded of recordedAmounts) {
    t.strictSame(toTokenAmount(BigInt(recorded.amount), { decimals: recorded.decimals }), recorded);
  }
});

t.test('an amount keeps every digit and every significant zero', async (t) => {
  t.equal(toTokenAmount(9_007_199_254_740_993n, { decimals: 0 }).uiAmountString, '9007199254740993');
  t.equal(toTokenAmount(10n, { decimals: 0 }).uiAmountString, '10');
  t.equal(toTokenAmount(0n, { decimals: 9 }).uiAmountString, '0');
  t.equal(toTokenAmount(MAX, { decimals: 19 }).uiAmountString, '1.8446744073709551615');
  t.strictSame(toTokenAmount(1_234_567_890n, { decimals: 20 }), {
    amount: '1234567890',
    decimals: 20,
    uiAmount: null,
    uiAmountString: '0.0000000000123456789',
  });
});

t.test('any amount can be parsed back from its text', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX }), fc.integer({ min: 0, max: 255 }), (amount, decimals) => {
      const [whole = '', fraction = ''] = formatUnits(amount, decimals).split('.');
      return BigInt(whole + fraction.padEnd(decimals, '0')) === amount && !fraction.endsWith('0');
    }),
  );
});

t.test('interest grows as in a node', async (t) => {
  const node = mint(9, interest(300, 1_795_234_145n, 1_795_234_145n));
  const after = amountScaleOf(node, 1_795_234_166n); // of a real node, 21 seconds after the mint was made
  t.equal(toTokenAmount(1_000_000_000_000n, after).uiAmountString, '1000.000019964');
  t.equal(toTokenAmount(999_999_600_000n, after).uiAmountString, '999.999619964');

  const fivePercent = mint(18, interest(500, 0n, YEAR));
  const year = amountScaleOf(fivePercent, YEAR);
  t.equal(toTokenAmount(10n ** 18n, year).uiAmountString, '1.051271096376024117');
  t.equal(toTokenAmount(10n ** 19n, year).uiAmountString, '10.512710963760241611');
  t.equal(toTokenAmount(10n ** 18n, year).uiAmount, 1.0512710963760241);
});

t.test('interest above the largest double is `inf`, without a uiAmount', async (t) => {
  const huge = amountScaleOf(mint(0, interest(32_767, 0n, 0n)), YEAR * 1000n);
  t.strictSame(toTokenAmount(MAX, huge), { amount: `${MAX}`, decimals: 0, uiAmount: null, uiAmountString: 'inf' });
});

t.test('a new multiplier applies from its effective time on, and rounds down to the smallest unit', async (t) => {
  const doubling = mint(18, scaled('1', '2', 100n));
  t.equal(toTokenAmount(10n ** 18n, amountScaleOf(doubling, 99n)).uiAmountString, '1');
  t.equal(toTokenAmount(10n ** 18n, amountScaleOf(doubling, 100n)).uiAmountString, '2');
  t.equal(toTokenAmount(10n ** 19n, amountScaleOf(doubling, 100n)).uiAmountString, '20');
  t.equal(toTokenAmount(99n, amountScaleOf(mint(2, scaled('1.999', '1', 1n)), 0n)).uiAmountString, '1.97');
  t.equal(toTokenAmount(MAX, amountScaleOf(mint(0, scaled('1', 'inf', 0n)), 0n)).uiAmountString, 'inf');
});

t.test('only amounts with interest or a multiplier depend on the clock', async (t) => {
  t.ok(dependsOnClock(mint(0, interest(1, 0n, 0n))));
  t.ok(dependsOnClock(mint(0, scaled('1', '1', 0n))));
  t.notOk(dependsOnClock(mint(0, [{ extension: 'nonTransferable' }])));
  t.strictSame(amountScaleOf(mint(6), 0n), { decimals: 6 });
});

t.test('a double is rounded exactly at any size, a tie to the even digit', async (t) => {
  t.equal(formatRoundedDouble(0.125, 2), '0.12');
  t.equal(formatRoundedDouble(0.375, 2), '0.38');
  t.equal(formatRoundedDouble(2.5, 0), '2');
  t.equal(formatRoundedDouble(1e21, 2), '1000000000000000000000');
  t.equal(formatRoundedDouble(Number.MAX_VALUE, 0).length, 309);
  t.equal(formatRoundedDouble(5e-324, 9), '0');
  t.equal(formatRoundedDouble(-1.25, 1), '-1.2');
  t.equal(formatRoundedDouble(Number.NaN, 3), 'NaN');
  t.equal(formatRoundedDouble(Number.NEGATIVE_INFINITY, 3), '-inf');
  const trimmed = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e20, noNaN: true }), fc.integer({ min: 20, max: 60 }), (value, decimals) => {
      fc.pre(!/^50*$/.test(value.toFixed(100).split('.')[1]?.slice(decimals) ?? '')); // toFixed rounds a tie up
      return formatRoundedDouble(value, decimals) === trimmed(value.toFixed(decimals));
    }),
    {
      examples: [
        [0.1, 20],
        [1e20, 20],
        [0, 20],
      ],
    },
  );
});

t.test('a double in plain digits parses to the same double', async (t) => {
  for (const [value, text] of [
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [-0, '-0'],
    [1.25e22, '12500000000000000000000'],
  ] as const) {
    t.equal(formatDouble(value), text);
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = formatDouble(value);
      return Object.is(Number(text), value) && !text.includes('e');
    }),
  );
});
