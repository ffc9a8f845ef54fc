import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { COINS, DOLLAR, GOLD, POINTS, TOLL, TREASURY, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { findPriceFeedAddress } from '../../src/solana/accounts/pyth-price.ts';
import { startStepped } from '../support/harness.ts';

const NATIVE = 'So11111111111111111111111111111111111111112';
const NOBODY = '4'.repeat(44);
const wallet = WALLETS[0].address;

/** Price settings of a gateway over the embedded cluster. */
const pyth = [`prices.sources=["pyth-onchain"]`, `prices.pyth.feeds=${JSON.stringify(PRICE_FEEDS)}`];

t.test('with prices on chain', async (t) => {
  const { get, cluster, clock, step } = await startStepped(t, { perSlot: 0, set: pyth });

  /** Returns the current price in a feed's account. */
  const onChain = (mint: string): number => {
    const data = Buffer.from(
      cluster.chain.account(findPriceFeedAddress(PRICE_FEEDS[mint] ?? ''), 'confirmed')?.data ?? [],
    );
    return Number(data.readBigInt64LE(73)) / 1e8;
  };

  t.test("a mint's answer is complete", async (t) => {
    const { json } = await get(`/token/${DOLLAR.mint.address}`);
    t.match(json.result, {
      mint: DOLLAR.mint.address,
      program: 'spl-token',
      programId: DOLLAR.program,
      decimals: 6,
      mintAuthority: TREASURY.address,
      freezeAuthority: TREASURY.address,
      isInitialized: true,
      isNft: false,
      metadata: {
        name: 'Demo Dollar',
        symbol: 'DUSD',
        uri: DOLLAR.uri,
        source: 'metaplex',
        updateAuthority: TREASURY.address,
        isMutable: true,
        sellerFeeBasisPoints: 0,
        creators: null,
        collection: null,
        tokenStandard: 'Fungible',
        primarySaleHappened: false,
      },
      extensions: null,
      owner: null,
      holders: null,
      priceUsd: onChain(DOLLAR.mint.address),
      priceSource: 'pyth-onchain',
    });
    t.equal(
      json.result.uiSupplyString,
      `${BigInt(json.result.supply) / 1_000_000n}.${json.result.supply.slice(-6)}`.replace(/\.?0+$/, ''),
    );
    const toll = (await get(`/token/${TOLL.mint.address}`)).json.result;
    t.match(toll, { program: 'spl-token-2022', metadata: { name: 'Demo Toll', source: 'token-2022' } });
    t.same(
      toll.extensions.map(({ extension }: any) => extension),
      ['metadataPointer', 'transferFeeConfig', 'tokenMetadata'],
    );
  });

  t.test('an address that is not a mint is refused with its kind', async (t) => {
    const nothing = await get(`/token/${NOBODY}`);
    t.same([nothing.status, nothing.json.error], [404, 'not_found']);
    const person = await get(`/token/${wallet}`);
    t.same([person.status, person.json.error], [404, 'not_a_mint']);
    t.match(person.json.message, 'its kind is system');
    const holding = await get(`/token/${cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0])}`);
    t.match(holding.json.message, 'its kind is spl-token:account');
  });

  t.test('all holdings of an address are valued, SOL first, then by value', async (t) => {
    const { json } = await get(`/address/${wallet}/portfolio`);
    const { result } = json;
    t.match(result, { owner: wallet, pricedCount: 5, unpricedCount: 0 });
    t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain', maxAgeSec: 120 });
    t.same(
      result.items.map(({ symbol }: any) => symbol),
      ['SOL', 'DGLD', 'DUSD', 'DTOL', 'DPTS'],
    );
    for (const item of result.items) {
      t.equal(item.priceUsd, onChain(item.mint), item.symbol);
      t.equal(item.valueUsd, Number((Number(item.uiAmountString) * item.priceUsd).toFixed(6)));
      t.ok(item.priceSlot > 0 && item.priceSlot <= cluster.chain.slot('confirmed'));
    }
    const sum = (member: string) => result.items.reduce((sum: number, item: any) => sum + item[member], 0);
    t.ok(Math.abs(sum('valueUsd') - result.totalUsd) < 0.001);
    t.ok(Math.abs(sum('share') - 1) < 0.00001);
    t.equal(result.valuation.asOf, Math.min(...result.items.map(({ priceTime }: any) => priceTime)));
    t.match(json.receipt.claim, /^observed/);
  });

  t.test('prices change with the slots', async (t) => {
    const before = onChain(NATIVE);
    await step(40, 4);
    t.not(onChain(NATIVE), before);
    const { result } = (await get(`/address/${wallet}/portfolio`)).json;
    t.equal(result.items[0].priceUsd, onChain(NATIVE));
  });

  t.test('an empty address has no known value', async (t) => {
    const { result } = (await get(`/address/${NOBODY}/portfolio`)).json;
    t.match(result, { totalUsd: null, pricedCount: 0, unpricedCount: 0, items: [], valuation: { asOf: null } });
  });

  t.test('a price that is too old is not used', async (t) => {
    await cluster.control.pauseSlots();
    clock.advance(121_000);
    await cluster.control.resumeSlots();
    const frozen = cluster.chain.accountAt(findPriceFeedAddress(PRICE_FEEDS[NATIVE] ?? ''), Number.POSITIVE_INFINITY);
    t.ok(frozen);
    const { result } = (await get(`/address/${WALLETS[3]?.address}/portfolio`)).json;
    t.match(result, { totalUsd: null, pricedCount: 0, unpricedCount: 5 });
  });

  t.test('bad input is refused before any request to the cluster', async (t) => {
    const asked = async () =>
      Object.values(await cluster.control.requestCounts()).reduce((sum, count) => sum + count, 0);
    const before = await asked();
    for (const [target, error] of [
      ['/token/x', 'invalid_address'],
      [`/token/${DOLLAR.mint.address}?commitment=x`, 'invalid_query'],
      ['/address/x/portfolio', 'invalid_address'],
      [`/address/${wallet}/portfolio?commitment=x`, 'invalid_query'],
    ] as const) {
      const { status, json } = await get(target);
      t.equal(status, 400);
      t.equal(json.error, error, target);
    }
    t.equal(await asked(), before);
  });
});

t.test('without a price source all is counted and nothing is valued', async (t) => {
  const { get } = await startStepped(t, { perSlot: 0 });
  const { result } = (await get(`/address/${wallet}/portfolio`)).json;
  t.match(result, { totalUsd: null, pricedCount: 0, unpricedCount: 5, valuation: { source: 'none', asOf: null } });
  t.same(
    result.items.slice(1).map(({ mint }: any) => mint),
    COINS.map(({ mint }) => mint.address).toSorted(),
  );
  t.ok(
    result.items.every(
      ({ priceUsd, valueUsd, share }: any) => priceUsd === null && valueUsd === null && share === null,
    ),
  );
});

t.test('sources are queried in order, each for the missing prices', async (t) => {
  const asked: string[][] = [];
  let slot = 0;
  const service = createServer((request, response) => {
    const mints = new URL(request.url ?? '', 'http://service').searchParams.get('ids')?.split(',') ?? [];
    asked.push(mints);
    response.end(
      JSON.stringify({
        [GOLD.mint.address]: { usdPrice: 2, blockId: slot },
        [POINTS.mint.address]: { usdPrice: 3, blockId: slot - 1000 },
        [TOLL.mint.address]: null,
      }),
    );
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const { port } = service.address() as AddressInfo; // it listens on TCP
  const { get, cluster, step, logged } = await startStepped(t, {
    perSlot: 0,
    set: [
      'prices.sources=["jupiter-v3","static"]',
      `prices.static=${JSON.stringify({ [DOLLAR.mint.address]: 1, [NATIVE]: 100 })}`,
      `prices.jupiter.url=http://127.0.0.1:${port}/price/v3`,
    ],
  });
  slot = cluster.chain.slot('processed');
  const { result } = (await get(`/address/${wallet}/portfolio`)).json;
  t.same(
    asked.map((mints) => mints.toSorted()),
    [[GOLD, POINTS, TOLL].map(({ mint }) => mint.address).toSorted()],
  );
  t.equal(result.valuation.source, 'static');
  const pricesBySymbol = new Map(
    result.items.map((item: any) => [item.symbol, [item.priceUsd, item.priceSource, item.priceSlot]]),
  );
  t.same(Object.fromEntries(pricesBySymbol), {
    SOL: [100, 'static', null],
    DUSD: [1, 'static', null],
    DGLD: [2, 'jupiter-v3', slot],
    DPTS: [null, null, null],
    DTOL: [null, null, null],
  });

  service.close();
  service.closeAllConnections();
  await step(8, 4);
  const kept = (await get(`/address/${wallet}/portfolio`)).json.result;
  t.equal(kept.pricedCount, 3, 'a price is good for some seconds');
  t.equal(asked.length, 1);
  await step(8, 4);
  const alone = (await get(`/address/${wallet}/portfolio`)).json.result;
  t.match(alone, { pricedCount: 2, unpricedCount: 3 }, 'a service that is gone takes only its own prices along');
  t.ok(logged.some(({ fields }) => fields.source === 'jupiter-v3'));
});
