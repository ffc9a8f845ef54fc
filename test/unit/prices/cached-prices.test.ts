import t from 'tap';
import { cachedPrices } from '../../../src/prices/cached-prices.ts';
import type { Price, PriceSource } from '../../../src/prices/price-source.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const AT = { commitment: 'confirmed', slot: 1 } as const;

/** A source that knows a price of every mint but `nothing`, and fails while it is told to. */
function open() {
  const asked: string[][] = [];
  const state = { fails: false };
  const source: PriceSource = {
    name: 'jupiter-v3',
    async prices(mints) {
      asked.push([...mints]);
      if (state.fails) throw new Error('gone');
      const priced = mints.filter((mint) => mint !== 'nothing');
      return new Map(
        priced.map((mint): [string, Price] => [
          mint,
          { usd: asked.length, source: 'jupiter-v3', slot: null, time: null },
        ]),
      );
    },
  };
  const clock = new ManualClock();
  const kept = cachedPrices(source, clock);
  const usd = async (...mints: string[]) =>
    Object.fromEntries([...(await kept.prices(mints, AT))].map(([mint, price]) => [mint, price.usd]));
  return { asked, state, clock, usd };
}

t.test('a price is asked for once in five seconds, one that is not there too', async (t) => {
  const { asked, clock, usd } = open();
  t.same(await usd('a', 'nothing'), { a: 1 });
  t.same(await usd('a', 'b', 'nothing'), { a: 1, b: 2 });
  t.same(asked, [['a', 'nothing'], ['b']]);
  clock.advance(4999);
  t.same(await usd('a'), { a: 1 });
  clock.advance(1);
  t.same(await usd('a', 'nothing'), { a: 3 });
});

t.test('who asks at the same time waits for the same answer', async (t) => {
  const { asked, usd } = open();
  t.same(await Promise.all([usd('a'), usd('a', 'b'), usd('b', 'a')]), [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }]);
  t.same(asked, [['a'], ['b']]);
});

t.test('a service that is gone is not asked by every request', async (t) => {
  const { asked, state, clock, usd } = open();
  state.fails = true;
  for (let i = 0; i < 5; i++) await t.rejects(usd('a', 'b'), { message: 'gone' });
  t.equal(asked.length, 1);
  state.fails = false;
  clock.advance(5000);
  t.same(await usd('a'), { a: 2 });
});

t.test('the oldest give way when there are too many', async (t) => {
  const { asked, usd } = open();
  await usd('first');
  await usd(...Array.from({ length: 10_000 }, (_, i) => `mint ${i}`));
  await usd('mint 0', 'mint 9999');
  t.equal(asked.length, 2);
  await usd('first');
  t.equal(asked.length, 3);
});
