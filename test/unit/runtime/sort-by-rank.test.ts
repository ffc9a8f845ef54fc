import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { type RankOf, rankByAmount, sortByRank } from '../../../src/runtime/sort-by-rank.ts';

t.test('rows are in the order of their ranks, then of the comparison, however many share a rank', async (t) => {
  const items = fc.array(fc.record({ rank: fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1), value: fc.nat(9) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(items, fc.constantFrom(1, 200), fc.boolean(), (some, copies, hasSecond) => {
      const all = Array.from({ length: copies }, () => some).flat(); // many that share a rank, too
      const valueAt = (row: number): number => all[row]?.value ?? 0;
      const rankOf = (row: number): number => all[row]?.rank ?? 0;
      const compare = (a: number, b: number): number => valueAt(a) - valueAt(b) || a - b;
      const ranks: [RankOf, ...RankOf[]] = hasSecond ? [rankOf, valueAt] : [rankOf];
      const order = sortByRank(all.length, ranks, compare);
      const expected = all.map((_, row) => row).sort((a, b) => rankOf(a) - rankOf(b) || compare(a, b));
      return isDeepStrictEqual([...order], expected);
    }),
    { numRuns: 40 },
  );
  t.throws(() => sortByRank(2 ** 20 + 1, [() => 0], () => 0), RangeError);
});

t.test('the rank of an amount never contradicts the amount', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (a, b) => {
      const [x, y] = [rankByAmount(Number(a)), rankByAmount(Number(b))];
      return a > b ? x <= y : a === b ? x === y : x >= y;
    }),
  );
});
