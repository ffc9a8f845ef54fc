import t from 'tap';
import { batchedPrices } from '../../../src/prices/batched-prices.ts';
import { jupiterPrices } from '../../../src/prices/jupiter-prices.ts';
import { jupiterVerifiedMints } from '../../../src/prices/jupiter-verified-mints.ts';
import { keptPrices } from '../../../src/prices/kept-prices.ts';
import { createPriceLookup } from '../../../src/prices/price-lookup.ts';
import type { Price, PriceSource } from '../../../src/prices/price-source.ts';
import { formatDecimal } from '../../../src/solana/codec/decimal.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const AT = { commitment: 'confirmed', slot: 1 } as const;

const priced = (units: bigint, time: number | null, stale = false): Price => ({
  usd: { units, scale: 0 },
  source: 'static',
  slot: null,
  time,
  stale,
});

const sourceOf = (prices: Readonly<Record<string, Price>>): PriceSource => ({
  name: 'static',
  prices: async (mints) => new Map(Object.entries(prices).filter(([mint]) => mints.includes(mint))),
});

const shown = (prices: ReadonlyMap<string, Price>): object =>
  Object.fromEntries(
    [...prices].map(([mint, { usd, stale }]) => [mint, `${formatDecimal(usd)}${stale ? ' stale' : ''}`]),
  );

t.test('a price beyond its age is stale, then not used; a fresh one of a later source is better', async (t) => {
  const clock = new ManualClock();
  const nowSec = clock.now() / 1000;
  const limits = { clock, maxAgeSec: 120, maxStaleSec: 86_400 };
  const first = sourceOf({
    fixed: priced(1n, null),
    fresh: priced(2n, nowSec - 120),
    stale: priced(3n, nowSec - 121),
    day: priced(4n, nowSec - 86_400),
    old: priced(5n, nowSec - 86_401),
    replaced: priced(6n, nowSec - 500),
    newer: priced(7n, nowSec - 500),
  });
  const second = sourceOf({
    fresh: priced(20n, nowSec),
    stale: priced(30n, nowSec - 122),
    replaced: priced(60n, nowSec),
    newer: priced(70n, nowSec - 499),
  });
  const mints = ['fixed', 'fresh', 'stale', 'day', 'old', 'replaced', 'newer'];
  t.same(shown(await createPriceLookup([first, second], limits).find(mints, AT)), {
    fixed: '1',
    fresh: '2',
    stale: '3 stale',
    day: '4 stale',
    replaced: '60',
    newer: '70 stale',
  });
});

t.test('while a source fails, its last prices are stale; those it no longer has are none', async (t) => {
  const state: { fails: boolean; prices: Record<string, Price> } = {
    fails: false,
    prices: { a: priced(1n, 5), b: priced(2n, 5) },
  };
  const source = keptPrices({
    name: 'static',
    async prices(mints) {
      if (state.fails || mints.includes('bad')) throw new Error('status 429');
      return sourceOf(state.prices).prices(mints, AT);
    },
  });
  t.same(shown(await source.prices(['a', 'b'], AT)), { a: '1', b: '2' });
  state.fails = true;
  t.same(shown(await source.prices(['a', 'b', 'c'], AT)), { a: '1 stale', b: '2 stale' });
  state.fails = false;
  delete state.prices['a'];
  t.same(shown(await source.prices(['a', 'b'], AT)), { b: '2' });
  state.fails = true;
  t.same(shown(await source.prices(['a', 'b'], AT)), { b: '2 stale' });
  state.fails = false;
  const batched = batchedPrices(source, 1);
  t.same(shown(await batched.prices(['b', 'bad'], AT)), { b: '2' }, 'a request that fails takes only its own along');
});

t.test("Jupiter's numbers are read as text, those of a mint with a multiplier for what the chain counts", async (t) => {
  const clock = new ManualClock();
  const asked: string[] = [];
  const body = `{
    "plain": {"usdPrice": 767.4580572315199, "blockId": 900, "decimals": 8},
    "small": {"usdPrice": 1.5e-9, "blockId": null},
    "scaled": {"usdPrice": 767.458, "scaledUiConfig": {"multiplier": 1.0039, "usdPricePrescaled": 770.45}},
    "unclear": {"usdPrice": 767.458, "scaledUiConfig": {"multiplier": 1.0039}},
    "zero": {"usdPrice": 0}, "none": null, "unpriced": {"usdPrice": null}
  }`;
  const source = jupiterPrices({
    url: 'http://service/price/v3',
    get: async (url) => {
      asked.push(url);
      return Buffer.from(body);
    },
    clock,
    tip: () => ({ slot: 1000, slotTimeMs: 400 }),
  });
  const found = await source.prices(['plain', 'small', 'scaled', 'unclear', 'zero', 'none', 'unpriced', 'left'], AT);
  t.same(shown(found), { plain: '767.458057232', small: '0.0000000015', scaled: '770.45' });
  const nowSec = Math.floor(clock.now() / 1000);
  t.match(found.get('plain'), { slot: 900, time: nowSec - 40 }, 'its age follows from its slot');
  t.match(found.get('small'), { slot: null, time: nowSec });
  t.match(asked, [/^http:\/\/service\/price\/v3\?ids=plain%2Csmall/]);
});

t.test("what is on Jupiter's list of verified tokens is asked once an hour, and holds while it can't be", async (t) => {
  const clock = new ManualClock();
  const state = { asked: [] as string[][], fails: false };
  const rows = [
    { id: 'a', isVerified: true },
    { id: 'b', isVerified: false, tags: [] },
    { id: 'c', tags: ['strict'] },
  ];
  const find = jupiterVerifiedMints({
    url: 'http://service/tokens/v2/search',
    get: async (url) => {
      state.asked.push(new URL(url).searchParams.get('query')?.split(',') ?? []);
      if (state.fails) throw new Error('status 500');
      return Buffer.from(JSON.stringify(rows));
    },
    clock,
  });
  t.same([...(await find(['a', 'b', 'c', 'd']))], ['a', 'c']);
  await find(['a', 'b', 'c', 'd']);
  t.same(state.asked, [['a', 'b', 'c', 'd']]);
  clock.advance(3_600_000);
  state.fails = true;
  t.same([...(await find(['a', 'b', 'e']))], ['a']);
  t.equal(state.asked.length, 2);
});
