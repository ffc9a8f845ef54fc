import t from 'tap';
import type { Price } from '../../../src/prices/price-source.ts';
import { valuePositions } from '../../../src/prices/valuation.ts';

const priced = (units: bigint, scale: number, time: number | null = null, stale = false): Price => ({
  usd: { units, scale },
  source: 'static',
  slot: null,
  time,
  stale,
});

const held = (mint: string, amount: bigint, decimals: number, isNft = false) => ({ mint, amount, decimals, isNft });

t.test('values and their sum have every digit, beyond what a double holds', async (t) => {
  const positions = [
    held('large', 18_446_744_073_709_551_615n, 0),
    held('small', 1n, 6),
    held('nft', 1n, 0, true),
    held('none', 5n, 0),
  ];
  const prices = new Map([
    ['large', priced(1_000001n, 6, 50)],
    ['small', priced(5n, 1, 40, true)],
    ['nft', priced(9n, 0, 1, true)],
  ]);
  const { items, totalMicroUsd, asOf, stale } = valuePositions(positions, prices);
  t.same(
    items.map(({ position, microUsd }) => [position.mint, microUsd]),
    [
      ['large', 18_446_744_073_709_551_615n * 1_000_001n],
      ['small', 1n], // 0.0000005 dollars, rounded up
      ['nft', null],
      ['none', null],
    ],
  );
  t.equal(totalMicroUsd, 18_446_744_073_709_551_615n * 1_000_001n + 1n);
  t.same(
    items.map(({ microShare }) => microShare),
    [1_000_000n, 0n, null, null],
  );
  t.same([asOf, stale], [40, true], 'of the prices in the total');
});

t.test('nothing priced is no total, and worth nothing has no shares', async (t) => {
  t.match(valuePositions([held('a', 1n, 0)], new Map()), { totalMicroUsd: null, asOf: null, stale: false });
  const [item] = valuePositions([held('a', 1n, 9)], new Map([['a', priced(1n, 6)]])).items;
  t.match(item, { microUsd: 0n, microShare: null });
});
