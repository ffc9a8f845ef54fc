import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.ts';
import { cachedPrices, lastPrices } from '../../../src/gateway/prices/cached-prices.ts';
import { configuredPrices } from '../../../src/gateway/prices/configured-prices.ts';
import { jupiterPrices } from '../../../src/gateway/prices/jupiter-prices.ts';
import { cachedVerified, jupiterVerifiedMints } from '../../../src/gateway/prices/jupiter-verified-mints.ts';
import { createPriceLookup } from '../../../src/gateway/prices/price-lookup.ts';
import type { FindPrices, Price } from '../../../src/gateway/prices/price-source.ts';
import { valuePositions } from '../../../src/gateway/prices/valuation.ts';
import { watchedService } from '../../../src/gateway/prices/watched-service.ts';
import { WRAPPED_SOL, WRAPPED_SOL_MINTS } from '../../../src/shared/domain/known-mints.ts';
import { RequestCost } from '../../../src/shared/domain/units.ts';
import { formatUnits } from '../../../src/transactions/codec/format-decimal.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';

t.test('cached-prices', async (t) => {
  const AT = { commitment: 'confirmed', slot: 1 } as const;

  /** Opens a source with a price of every mint but `nothing`, which fails on demand. */
  function open() {
    const requested: string[][] = [];
    const state = { fails: false };
    const source: FindPrices = async (mints) => {
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
    };
    const clock = new ManualClock();
    const kept = cachedPrices(lastPrices(source).find, 50_000, clock);
    const usd = async (...mints: string[]) =>
      Object.fromEntries([...(await kept(mints, AT))].map(([mint, price]) => [mint, Number(price.usd.units)]));
    return { requested, state, clock, usd };
  }

  t.test('a price is requested once in five seconds, a missing one too', async (t) => {
    const { requested, clock, usd } = open();
    t.same(await usd('a', 'nothing'), { a: 1 });
    t.same(await usd('a', 'b', 'nothing'), { a: 1, b: 2 });
    t.same(requested, [['a', 'nothing'], ['b']]);
    clock.advance(5000);
    t.same(await usd('a'), { a: 1 });
    clock.advance(1);
    t.same(await usd('a', 'nothing'), { a: 3 });
  });

  t.test('concurrent callers share one request', async (t) => {
    const { requested, usd } = open();
    t.same(await Promise.all([usd('a'), usd('a', 'b'), usd('b', 'a')]), [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1 }]);
    t.same(requested, [['a', 'b']]);
  });

  t.test('a failing service is not called on every request', async (t) => {
    const { requested, state, clock, usd } = open();
    state.fails = true;
    for (let i = 0; i < 5; i++) t.same(await usd('a', 'b'), {});
    t.equal(requested.length, 1);
    state.fails = false;
    clock.advance(5001);
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
});

t.test('price-lookup', async (t) => {
  const AT = { commitment: 'confirmed', slot: 1 } as const;

  const priced = (units: bigint, time: number | null, stale = false): Price => ({
    usd: { units, scale: 0 },
    source: 'static',
    slot: null,
    time,
    stale,
  });

  const sourceOf =
    (prices: Readonly<Record<string, Price>>): FindPrices =>
    async (mints) =>
      new Map(Object.entries(prices).filter(([mint]) => mints.includes(mint)));

  const shown = (prices: ReadonlyMap<string, Price>): object =>
    Object.fromEntries(
      [...prices].map(([mint, { usd, stale }]) => [
        mint,
        `${formatUnits(usd.units, usd.scale)}${stale ? ' stale' : ''}`,
      ]),
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
    const sources = new Map([
      ['static', first],
      ['jupiter-v3', second],
    ] as const);
    t.same(shown(await createPriceLookup(sources, limits).find(mints, AT)), {
      fixed: '1',
      fresh: '2',
      stale: '3 stale',
      day: '4 stale',
      replaced: '60',
      newer: '70 stale',
    });
  });

  t.test('SOL has one price, whichever program wraps it', async (t) => {
    const source = sourceOf({ [WRAPPED_SOL]: priced(7n, null) });
    const lookup = createPriceLookup(new Map([['static', source]]), {
      clock: new ManualClock(),
      maxAgeSec: 1,
      maxStaleSec: 1,
    });
    t.same(shown(await lookup.find(WRAPPED_SOL_MINTS.slice(1), AT)), { [WRAPPED_SOL_MINTS[1] ?? '']: '7' });
    t.same((await lookup.find(WRAPPED_SOL_MINTS, AT)).size, 2);
  });

  t.test('while a source fails, its last prices are stale; those it no longer has are none', async (t) => {
    const state: { fails: boolean; prices: Record<string, Price> } = {
      fails: false,
      prices: { a: priced(1n, 5), b: priced(2n, 5) },
    };
    const source = lastPrices(async (mints) => {
      if (state.fails || mints.includes('bad')) throw new Error('status 429');
      return sourceOf(state.prices)(mints, AT);
    });
    t.same(shown(await source.find(['a', 'b'], AT)), { a: '1', b: '2' });
    state.fails = true;
    t.same(shown(await source.find(['a', 'b', 'c'], AT)), { a: '1 stale', b: '2 stale' });
    state.fails = false;
    delete state.prices['a'];
    t.same(shown(await source.find(['a', 'b'], AT)), { b: '2' });
    state.fails = true;
    t.same(shown(await source.find(['a', 'b'], AT)), { b: '2 stale' });
    state.fails = false;
    const reading = source.find(['b'], AT);
    source.clear();
    await reading;
    state.fails = true;
    t.same(shown(await source.find(['b'], AT)), {}, 'after a lie none is kept that was being read');
    state.fails = false;
    const batched = cachedPrices(source.find, 1, new ManualClock());
    t.same(shown(await batched(['b', 'bad'], AT)), { b: '2' }, 'a request that fails loses only its own along');
    const mints = Array.from({ length: 1001 }, (_, i) => `mint ${i}`); // the most tokens of a portfolio, and SOL
    const all = sourceOf(Object.fromEntries(mints.map((mint) => [mint, priced(1n, 5)])));
    t.equal((await cachedPrices(all, 50, new ManualClock())(mints, AT)).size, mints.length);
  });

  t.test('what many callers look up goes in few requests, of which few are under way', async (t) => {
    const requested: (readonly string[])[] = [];
    const answers: (() => void)[] = [];
    const find = cachedPrices(
      async (mints, { cost }) => {
        if (cost !== undefined) cost.calls++;
        requested.push(mints);
        await new Promise<void>((resolve) => answers.push(resolve));
        return sourceOf(Object.fromEntries(mints.map((mint) => [mint, priced(1n, 5)])))(mints, AT);
      },
      50,
      new ManualClock(),
    );
    const costs = Array.from({ length: 300 }, (_, i) => new RequestCost(`caller ${i}`, false));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const found = costs.map((cost, i) => find([`mint ${i}`], { ...AT, cost }));
    await turn();
    for (let i = 300; i < 320; i++) {
      found.push(find([`mint ${i}`], AT));
      await turn();
    }
    t.same(pluck(requested, 'length'), [50, 50, 50, 50]);
    for (let i = 0; i < 3; i++) {
      for (const answer of answers.splice(0)) answer();
      await turn();
    }
    const sizes = (await Promise.all(found)).map(({ size }) => size);
    t.ok(sizes.every((size) => size === 1));
    t.same(pluck(requested.slice(4), 'length'), [50, 50, 20]);
    t.ok(
      costs.every(({ calls }) => calls === 1),
      'each pays for the request that it is in',
    );
  });

  t.test('a caller with many mints does not delay the others', async (t) => {
    const requested: (readonly string[])[] = [];
    const answers: (() => void)[] = [];
    const find = cachedPrices(
      async (mints) => {
        requested.push(mints);
        await new Promise<void>((resolve) => answers.push(resolve));
        return new Map();
      },
      50,
      new ManualClock(),
    );
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const findFor = (caller: string, mints: readonly string[]) =>
      find(mints, { ...AT, cost: new RequestCost(caller, false) });
    const found = ['a', 'b'].map((request) =>
      findFor(
        'many',
        Array.from({ length: 1000 }, (_, i) => `${request} ${i}`),
      ),
    );
    await turn();
    found.push(findFor('one', ['single', 'b 999', 'b 0']));
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer();
      await turn();
    }
    await Promise.all(found);
    t.equal(
      requested.findIndex((mints) => mints.includes('single') && mints.includes('b 999')),
      5,
      'it is in one of the first requests after those that were under way, with what waits for another caller',
    );
    t.equal(requested.length, 41);
    t.equal(new Set(requested.flat()).size, requested.flat().length, 'no mint is requested twice');
  });

  t.test("Jupiter's numbers are read as text, those of a mint with a multiplier for the chain's count", async (t) => {
    const clock = new ManualClock();
    const requested: string[] = [];
    const body = `{
    "plain": {"usdPrice": 767.4580572315199, "blockId": 900, "decimals": 8},
    "small": {"usdPrice": 1.5e-9, "blockId": null},
    "scaled": {"usdPrice": 767.458, "scaledUiConfig": {"multiplier": 1.0039, "usdPricePrescaled": 770.45}},
    "unclear": {"usdPrice": 767.458, "scaledUiConfig": {"multiplier": 1.0039}},
    "zero": {"usdPrice": 0}, "none": null, "unpriced": {"usdPrice": null},
    "odd slot": {"usdPrice": 1, "blockId": 990.5}, "exponent": {"usdPrice": 1, "blockId": 1e3}, "text": "1", "list": [1],
    "beyond": {"usdPrice": 1, "blockId": 9007199254740992}, "odd scale": {"usdPrice": 1, "scaledUiConfig": 2}
  }`;
    const source = jupiterPrices({
      url: 'http://service/price/v3',
      get: async (url) => {
        requested.push(url);
        return Buffer.from(body);
      },
      clock,
      tip: () => ({ slot: 1000, slotTimeMs: 400 }),
    });
    const odd = ['odd slot', 'exponent', 'text', 'list', 'beyond', 'odd scale'];
    const found = await source([...odd, 'plain', 'small', 'scaled', 'unclear', 'zero', 'none', 'unpriced', 'left'], AT);
    t.same(shown(found), { plain: '767.458057232', small: '0.0000000015', scaled: '770.45' });
    const nowSec = Math.floor(clock.now() / 1000);
    t.match(found.get('plain'), { slot: 900, time: nowSec - 40 }, 'its age follows from its slot');
    t.match(found.get('small'), { slot: null, time: nowSec });
    t.match(requested, [/^http:\/\/service\/price\/v3\?ids=odd\+slot.*%2Cplain%2Csmall/]);
  });

  t.test("Jupiter's list of verified tokens is requested once an hour, and used while it can't be", async (t) => {
    const clock = new ManualClock();
    const state = { requested: [] as string[][], fails: false };
    const rows = [
      { id: 'a', isVerified: true },
      { id: 'b', isVerified: false, tags: [] },
      { id: 'c', tags: ['strict'] },
      ...[5, null, { id: 'd', isVerified: true, tags: [7] }, { isVerified: true }], // odd ones
    ];
    const lookUp = jupiterVerifiedMints({
      url: 'http://service/tokens/v2/search',
      get: async (url) => {
        state.requested.push(new URL(url).searchParams.get('query')?.split(',') ?? []);
        if (state.fails) throw new Error('status 500');
        return Buffer.from(JSON.stringify(rows));
      },
    });
    const find = cachedVerified(lookUp, clock);
    const found = await Promise.all([find(['a', 'b', 'c', 'd']), find(['b', 'c'])]);
    t.same(
      found.map((verified) => [...verified]),
      [['a', 'c'], ['c']],
    );
    await find(['a', 'b', 'c', 'd']);
    t.same(state.requested, [['a', 'b', 'c', 'd']]);
    clock.advance(3_600_001);
    state.fails = true;
    t.same([...(await find(['a', 'b', 'e']))], ['a']);
    t.equal(state.requested.length, 2);
  });

  t.test('a service that fails, or answers with something else, is not requested again soon', async (t) => {
    const answer = { status: 500, body: '', seconds: 0 };
    let requests = 0;
    const service = createServer((_, response) => {
      requests++;
      response.writeHead(answer.status, { 'Retry-After': answer.seconds }).end(answer.body);
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    t.teardown(() => service.close());
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`; // it listens on TCP
    const set = ['prices.sources=jupiter-v3', `prices.jupiter.tokensUrl=${url}`];
    const noAccount = () => Promise.reject(new Error('no account'));
    for (const [status, body, seconds] of [
      [500, '', 0],
      [429, '', 20],
      [429, '', 100_000],
      [200, '<html>', 0],
      [200, '{"error":"moved"}', 0],
    ] as const) {
      Object.assign(answer, { status, body, seconds });
      const outages: string[] = [];
      const clock = new ManualClock();
      const { findVerified } = configuredPrices(loadConfig({ flags: { set }, cwd: '/' }).prices, {
        accounts: { read: noAccount, readBalances: noAccount, readTo: () => {} },
        clock,
        clusterFeeds: undefined,
        jupiterKey: undefined,
        timeoutMs: 1000,
        tip: () => ({ slot: 1000, slotTimeMs: 400 }),
        onOutage: (source) => outages.push(source),
        onRecovery: () => {},
      });
      const cost = new RequestCost('caller', false);
      const before = requests;
      for (let i = 0; i < 2; i++) t.equal((await findVerified?.(['a'], cost))?.size, 0);
      t.strictSame([requests - before, cost.calls, outages], [1, 1, ['jupiter-v3']], 'what was not sent costs nothing');
      const pauseMs = Math.min(Math.max(5, seconds), 30) * 1000;
      clock.advance(pauseMs - 1);
      await findVerified?.(['a'], cost);
      t.equal(cost.calls, 1);
      clock.advance(1);
      await findVerified?.(['a'], cost);
      t.equal(cost.calls, 2, 'five seconds later it is, or when the service wishes, within half a minute');
    }
  });
});

t.test('valuation', async (t) => {
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
    t.same(pluck(items, 'microShare'), [1_000_000n, 0n, null, null]);
    t.same([asOf, stale], [40, true], 'of the prices in the total');
  });

  t.test('nothing priced is no total, and worth nothing has no shares', async (t) => {
    t.match(valuePositions([held('a', 1n, 0)], new Map()), { totalMicroUsd: null, asOf: null, stale: false });
    const [item] = valuePositions([held('a', 1n, 9)], new Map([['a', priced(1n, 6)]])).items;
    t.match(item, { microUsd: 0n, microShare: null });
  });
});

t.test('watched-service', async (t) => {
  t.test('an outage is reported once, and the service is spared while it lasts', async (t) => {
    const state = { requests: 0, fails: true };
    const events: string[] = [];
    const clock = new ManualClock();
    const call = watchedService(
      async (mint: string) => {
        state.requests++;
        if (state.fails) throw new Error('gone');
        return mint;
      },
      {
        clock,
        pauseMsAfter: () => 5000,
        onOutage: (cause) => events.push(String(cause)),
        onRecovery: () => events.push('up'),
      },
    );
    for (let i = 0; i < 5; i++) await t.rejects(call(`mint ${i}`), { message: 'gone' });
    t.equal(state.requests, 1);
    clock.advance(5000);
    await t.rejects(call('mint'), { message: 'gone' });
    clock.advance(5000);
    state.fails = false;
    for (let i = 0; i < 5; i++) t.equal(await call('mint'), 'mint');
    t.same(events, ['Error: gone', 'up']);
    t.equal(state.requests, 7);
  });

  t.test('a failure of a request that was under way does not shorten the pause', async (t) => {
    const clock = new ManualClock();
    const failing: ((pauseMs: number) => void)[] = [];
    const call = watchedService(() => new Promise((_, reject) => failing.push(reject)), {
      clock,
      pauseMsAfter: Number,
      onOutage() {},
      onRecovery() {},
    });
    const calls = [call(), call()];
    for (const [i, pauseMs] of [30_000, 5000].entries()) {
      failing[i]?.(pauseMs);
      await t.rejects(calls[i] ?? Promise.resolve());
    }
    clock.advance(29_999);
    await t.rejects(call());
    t.equal(failing.length, 2);
    clock.advance(1);
    const next = call();
    t.equal(failing.length, 3);
    failing[2]?.(0);
    await t.rejects(next);
  });
});
