import t from 'tap';
import { cachedPrices } from '../../../src/prices/cached-prices.ts';
import type { Price, PriceSource } from '../../../src/prices/price-source.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const AT = { commitment: 'confirmed', slot: 1 } as const;

/** Opens a source with a price of every mint but `nothing`, which fails on demand. */
function open() {
  const requested: string[][] = [];
  const state = { fails: false };
  const source: PriceSource = {
    name: 'jupiter-v3',
    async prices(mints) {
      requested.push([...mints]);
      if (state.fails) throw new Error('gone');
      const priced = mints.filter((mint) => mint !== 'nothing');
      return new Map(
        priced.map((mint): [string, Price] => [
          mint,
          {
            usd: { units: BigInt(requested.length), scale: 0 },
            source: 'jupiter-v3',
            slot: null,
            time: null,
            stale: false,
          },
        ]),
      );
    },
  };
  const clock = new ManualClock();
  const kept = cachedPrices(source, clock);
  const usd = async (...mints: string[]) =>
    Object.fromEntries([...(await kept.prices(mints, AT))].map(([mint, price]) => [mint, Number(price.usd.units)]));
  return { requested, state, clock, usd };
}

t.test('a price is requested once in five seconds, a missing one too', async (t) => {
  const { requested, clock, usd } = open();
  t.same(await usd('a', 'nothing'), { a: 1 });
  t.same(await usd('a', 'b', 'nothing'), { a: 1, b: 2 });
  t.same(requested, [['a', 'nothing'], ['b']]);
  clock.advance(4999);
  t.same(await usd('a'), { a: 1 });
  clock.advance(1);
  t.same(await usd('a', 'nothing'), { a: 3 });
});

t.test('concurrent callers share one request', async (t) => {
  const { requested, usd } = open();
  t.same(await Promise.all([usd('a'), usd('a', 'b'), usd('b', 'a')]), [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }]);
  t.same(requested, [['a'], ['b']]);
});

t.test('a failing service is not called on every request', async (t) => {
  const { requested, state, clock, usd } = open();
  state.fails = true;
  for (let i = 0; i < 5; i++) await t.rejects(usd('a', 'b'), { message: 'gone' });
  t.equal(requested.length, 1);
  state.fails = false;
  clock.advance(5000);
  t.same(await usd('a'), { a: 2 });
});

t.test('the oldest prices are evicted when there are too many', async (t) => {
  const { requested, usd } = open();
  await usd('first');
  await usd(...Array.from({ length: 10_000 }, (_, i) => `mint ${i}`));
  await usd('mint 0', 'mint 9999');
  t.equal(requested.length, 2);
  await usd('first');
  t.equal(requested.length, 3);
});
