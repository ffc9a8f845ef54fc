import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import bs58 from 'bs58';
import t from 'tap';
import { STAKE_PROGRAM, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { COINS, DOLLAR, GOLD, POINTS, TOLL, TREASURY, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS, PYTH_PUSH_ORACLE } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { findPriceFeedAddress } from '../../src/solana/accounts/pyth-price.ts';
import { startStepped } from '../support/harness.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';

const NATIVE = 'So11111111111111111111111111111111111111112';
const NOBODY = '4'.repeat(44);
const wallet = WALLETS[0].address;

/** The pair of Pyth's programs since August 2026. */
const UPGRADED = {
  receiver: 'rec2HHDDnjLfj4kE7VyEtFA1HPGQLK33259532cRyHp',
  pushOracle: 'pyt2F414BA6dPttK6RddPZUdHfapoBN24GL5wbrPCou',
};

/** Price settings of a gateway over the embedded cluster. */
const pyth = [`prices.sources=["pyth-onchain"]`, `prices.pyth.feeds=${JSON.stringify(PRICE_FEEDS)}`];

t.test('with prices on chain', async (t) => {
  const { get, cluster, clock, step } = await startStepped(t, { perSlot: 0, set: [...pyth, 'prices.maxStaleSec=600'] });

  /** Returns the current price in a feed's account. */
  const onChain = (mint: string): number => {
    const data = Buffer.from(
      cluster.chain.account(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[mint] ?? ''), 'confirmed')?.data ?? [],
    );
    return Number(data.readBigInt64LE(73)) / 1e8;
  };

  t.test("a mint's answer is complete", async (t) => {
    const wrapped = (await get('/token/So11111111111111111111111111111111111111112')).json.result;
    t.match(wrapped, { metadata: null, knownSymbol: 'SOL' }, 'the only name of a mint without metadata');
    const { json } = await get(`/token/${DOLLAR.mint.address}`);
    t.match(json.result, {
      mint: DOLLAR.mint.address,
      knownSymbol: null,
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
    t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain', maxAgeSec: 120, stale: false });
    t.same(
      result.items.map(({ symbol }: any) => symbol),
      ['SOL', 'DGLD', 'DUSD', 'DTOL', 'DPTS'],
    );
    for (const item of result.items) {
      t.equal(item.priceUsd, onChain(item.mint), item.symbol);
      t.match(item, { stale: false, verified: item.asset === 'SOL', suspicious: false });
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

  t.test("of a feed's accounts under both pairs of programs the newer price counts", async (t) => {
    const address = findPriceFeedAddress(UPGRADED.pushOracle, PRICE_FEEDS[NATIVE] ?? '');
    const old = cluster.chain.account(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[NATIVE] ?? ''), 'confirmed');
    const data = Buffer.from(old?.data ?? []);
    const post = async (publishTime: bigint) => {
      data.writeBigInt64LE(123_45000000n, 73);
      data.writeBigInt64LE(publishTime, 93);
      cluster.chain.setAccount(address, { lamports: 1n, owner: UPGRADED.receiver, executable: false, data });
      await step(8, 4);
      return (await get(`/address/${wallet}/portfolio`)).json.result.items[0].priceUsd;
    };
    t.equal(await post(data.readBigInt64LE(93) - 100n), onChain(NATIVE));
    t.equal(await post(BigInt(Math.floor(clock.now() / 1000)) + 60n), 123.45);
    cluster.chain.setAccount(address, {
      lamports: 0n,
      owner: SYSTEM_PROGRAM,
      executable: false,
      data: new Uint8Array(),
    });
    await step(8, 4);
  });

  t.test('the delegate of a token account is shown, a frozen one too', async (t) => {
    const owner = WALLETS[4]?.address ?? '';
    const [delegated, frozen] = ['7'.repeat(43), '8'.repeat(43)];
    const account = (amount: number) => tokenAccountFixture(owner, amount, DOLLAR.mint.address);
    const [withDelegate, inFreeze] = [account(70), account(30)];
    withDelegate.data.set([1, 0, 0, 0], 72);
    withDelegate.data.set(bs58.decode(NOBODY), 76);
    Buffer.from(withDelegate.data.buffer).writeBigUInt64LE(2n ** 64n - 1n, withDelegate.data.byteOffset + 121);
    inFreeze.data[108] = 2;
    cluster.chain.setAccount(delegated, withDelegate);
    cluster.chain.setAccount(frozen, inFreeze);
    await step(4, 4);
    const { result } = (await get(`/address/${owner}/portfolio`)).json;
    const item = result.items.find(({ mint }: any) => mint === DOLLAR.mint.address);
    t.equal(item.accounts, 3);
    t.match(
      item.tokenAccounts.filter(({ address }: any) => address === delegated || address === frozen),
      [
        { address: delegated, amount: '70', delegate: NOBODY, delegatedAmount: `${2n ** 64n - 1n}`, frozen: false },
        { address: frozen, amount: '30', delegate: null, delegatedAmount: '0', frozen: true },
      ],
    );
    t.same(result.items[0].tokenAccounts, [], 'SOL has none');
  });

  t.test('bad input is refused before any request to the cluster', async (t) => {
    const asked = async () =>
      Object.values(await cluster.control.requestCounts()).reduce((sum, count) => sum + count, 0);
    const before = await asked();
    for (const [target, error] of [
      ['/token/x', 'invalid_address'],
      [`/token/${DOLLAR.mint.address}?commitment=x`, 'invalid_query'],
      ['/address/x/portfolio', 'invalid_address'],
      [`/address/${wallet}/portfolio?stake=2`, 'invalid_query'],
      [`/address/${wallet}/portfolio?commitment=x`, 'invalid_query'],
    ] as const) {
      const { status, json } = await get(target);
      t.equal(status, 400);
      t.equal(json.error, error, target);
    }
    t.equal(await asked(), before);
  });

  t.test('a price that is old is shown as stale, and a much older one is not used', async (t) => {
    await cluster.control.pauseSlots();
    const published = clock.now() / 1000;
    clock.advance(121_000);
    await cluster.control.resumeSlots();
    const target = `/address/${WALLETS[3]?.address}/portfolio`;
    const { result } = (await get(target)).json;
    t.match(result, { pricedCount: 5, unpricedCount: 0, valuation: { stale: true, maxAgeSec: 120 } });
    t.ok(result.items.every(({ stale, priceUsd, valueUsd }: any) => stale && priceUsd > 0 && valueUsd > 0));
    t.ok(result.totalUsd > 0 && result.valuation.asOf <= published);
    t.match((await get(`/token/${GOLD.mint.address}`)).json.result, { priceStale: true, priceSource: 'pyth-onchain' });
    await cluster.control.pauseSlots();
    clock.advance(600_000);
    await cluster.control.resumeSlots();
    const later = (await get(`/address/${WALLETS[5]?.address}/portfolio`)).json.result;
    t.match(later, { totalUsd: null, pricedCount: 0, unpricedCount: 5, valuation: { stale: false, asOf: null } });
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

t.test('sources are queried in order, each for the missing prices, and Jupiter with its key', async (t) => {
  const asked: string[][] = [];
  const keys = new Set<unknown>();
  const jupiter = { slot: 0, status: 200 };
  const service = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    keys.add(request.headers['x-api-key']);
    response.statusCode = jupiter.status;
    if (pathname === '/tokens') return response.end(JSON.stringify([{ id: GOLD.mint.address, isVerified: true }]));
    asked.push(searchParams.get('ids')?.split(',') ?? []);
    return response.end(
      JSON.stringify({
        [GOLD.mint.address]: { usdPrice: 2, blockId: jupiter.slot },
        [POINTS.mint.address]: { usdPrice: 3, blockId: jupiter.slot - 1000 },
        [TOLL.mint.address]: null,
      }),
    );
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const { port } = service.address() as AddressInfo; // it listens on TCP
  const state = t.testdir({ key: 'jup-secret\n' });
  const { get, cluster, step, logged } = await startStepped(t, {
    perSlot: 0,
    state,
    set: [
      'prices.sources=["jupiter-v3","static"]',
      `prices.static=${JSON.stringify({ [DOLLAR.mint.address]: 1, [NATIVE]: 100 })}`,
      `prices.jupiter.url=http://127.0.0.1:${port}/price/v3`,
      `prices.jupiter.tokensUrl=http://127.0.0.1:${port}/tokens`,
      `prices.jupiter.keyFile=${join(state, 'key')}`,
      `tokens.known=${JSON.stringify({ [TOLL.mint.address]: 'DUSD' })}`,
    ],
  });
  const { slot } = Object.assign(jupiter, { slot: cluster.chain.slot('processed') });
  const read = async () => (await get(`/address/${wallet}/portfolio`)).json.result;
  const result = await read();
  const byPrice = [[GOLD, POINTS, TOLL].map(({ mint }) => mint.address).toSorted()];
  t.same(
    asked.map((mints) => mints.toSorted()),
    byPrice,
  );
  t.same([...keys], ['jup-secret']);
  t.equal(result.valuation.source, 'static');
  const bySymbol = (items: any[]) =>
    Object.fromEntries(
      items.map((item) => [item.symbol, [item.priceUsd, item.priceSource, item.priceSlot, item.stale]]),
    );
  t.same(bySymbol(result.items), {
    SOL: [100, 'static', null, false],
    DUSD: [1, 'static', null, false],
    DGLD: [2, 'jupiter-v3', slot, false],
    DPTS: [3, 'jupiter-v3', slot - 1000, true],
    DTOL: [null, null, null, false],
  });
  const trust = Object.fromEntries(result.items.map((item: any) => [item.symbol, [item.verified, item.suspicious]]));
  const { DUSD, DGLD, DTOL } = trust;
  t.same({ DUSD, DGLD, DTOL }, { DUSD: [false, true], DGLD: [true, false], DTOL: [true, false] });

  jupiter.status = 429;
  await step(8, 4);
  t.match(await read(), { pricedCount: 4, items: result.items.slice(0, 1) }, 'a price is good for some seconds');
  t.equal(asked.length, 1);
  await step(8, 4);
  const limited = await read();
  t.match(limited, { pricedCount: 4, totalUsd: result.totalUsd, valuation: { stale: true } });
  t.same(bySymbol(limited.items), { ...bySymbol(result.items), DGLD: [2, 'jupiter-v3', slot, true] });
  t.ok(logged.some(({ fields }) => fields.source === 'jupiter-v3'));
  t.notMatch(JSON.stringify(logged.map(({ fields, message }) => [inspect(fields), message])), 'jup-secret');
});

t.test('stake accounts are listed by one scan, which is kept for a tenth of an epoch', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: pyth });
  const { get, cluster, node, step } = world;
  const { epoch } = (await get('/epoch')).json.result;
  const epochInfo = () => ({ epoch, slotIndex: 0, slotsInEpoch: 400, blockHeight: 1, transactionCount: 1 });
  node.overrides.set('getEpochInfo', () => ({
    result: JSON.stringify({ ...epochInfo(), absoluteSlot: cluster.chain.slot('confirmed') }),
  }));
  const stakeAccount = (
    lamports: bigint,
    [activation, deactivation]: readonly [bigint, bigint],
    withdrawer: string = wallet,
  ) => {
    const data = Buffer.alloc(200);
    data.writeUInt32LE(2, 0);
    data.writeBigUInt64LE(2_282_880n, 4);
    data.set(bs58.decode(withdrawer), 44);
    data.set(bs58.decode(NOBODY), 124);
    data.writeBigUInt64LE(lamports - 2_282_880n, 156);
    data.writeBigUInt64LE(activation, 164);
    data.writeBigUInt64LE(deactivation, 172);
    return { lamports, owner: STAKE_PROGRAM, executable: false, data };
  };
  const [now, never] = [BigInt(epoch), 2n ** 64n - 1n];
  const [large, ending, small] = ['5'.repeat(43), '6'.repeat(43), '7'.repeat(43)];
  cluster.chain.setAccount(large, stakeAccount(9_007_199_254_740_993n, [now, never]));
  cluster.chain.setAccount(ending, stakeAccount(5_000_000_000n, [0n, now]));
  cluster.chain.setAccount(small, stakeAccount(3_000_000_000n, [0n, 0n]));
  cluster.chain.setAccount('9'.repeat(43), stakeAccount(7_000_000_000n, [0n, never], NOBODY));
  await step(8, 4);
  const scans = () => node.requestCounts.get('getProgramAccounts') ?? 0;
  const target = `/address/${wallet}/portfolio`;
  const plain = await get(target);
  t.notOk('stake' in plain.json.result);
  t.equal(scans(), 0);
  const { text, json } = await get(`${target}?stake=1`);
  const { accounts, valueUsd, ...stake } = json.result.stake;
  t.same(
    accounts.map(({ address, state, delegatedLamports, lamports }: any) => [
      address,
      state,
      delegatedLamports,
      lamports,
    ]),
    [
      [large, 'activating', '9007199252458113', '9007199254740993'],
      [ending, 'deactivating', '4997717120', '5000000000'],
      [small, 'inactive', '0', '3000000000'],
    ],
  );
  t.match(accounts[1], { voter: NOBODY, activationEpoch: '0', deactivationEpoch: `${epoch}` });
  t.match(stake, { epoch, lamports: '9007207254740993', delegatedLamports: '9007204250175233' });
  const [sol] = json.result.items;
  const price = BigInt(Math.round(sol.priceUsd * 1e8));
  const micro = (9007207254740993n * price * 2n + 10n ** 11n) / (2n * 10n ** 11n);
  t.match(text, `"valueUsd":${micro / 1_000_000n}`, 'every digit');
  t.ok(valueUsd > 1e9);
  t.ok(Math.abs(json.result.totalUsd - plain.json.result.totalUsd) < 1000, 'stake is not part of the total');

  await step(36, 4);
  t.equal((await get(`${target}?stake=1`)).json.result.stake.slot, stake.slot);
  t.equal(scans(), 1);
  await step(12, 4);
  t.ok((await get(`${target}?stake=1`)).json.result.stake.slot > stake.slot);
  t.equal(scans(), 2);

  node.overrides.set('getProgramAccounts', () => ({
    error: '{"code":-32010,"message":"excluded from account secondary indexes"}',
  }));
  const other = `/address/${WALLETS[1].address}/portfolio?stake=1`;
  for (let i = 0; i < 2; i++) {
    const refused = (await get(other)).json.result;
    t.equal(refused.stake, null);
    t.equal(refused.pricedCount, 5);
    await step(8, 4);
  }
  t.equal(scans(), 3, 'a refusal is remembered');
});

t.test('a multiplier changes what is shown of an amount, not what it is worth', async (t) => {
  const mint = '3'.repeat(44);
  const { get, cluster, step } = await startStepped(t, {
    perSlot: 0,
    set: ['prices.sources=["static"]', `prices.static={"${mint}":10}`],
  });
  const data = Buffer.alloc(166 + 4 + 56);
  data.writeBigUInt64LE(1_000_000n, 36); // supply
  data[44] = 6;
  data[45] = 1;
  data[165] = 1; // a mint
  data.writeUInt16LE(25, 166); // scaledUiAmountConfig
  data.writeUInt16LE(56, 168);
  data.writeDoubleLE(3, 170 + 32);
  data.writeDoubleLE(3, 170 + 48);
  cluster.chain.setAccount(mint, { lamports: 1n, owner: TOKEN_2022_PROGRAM, executable: false, data });
  const account = { ...tokenAccountFixture(NOBODY, 1_000_000, mint), owner: TOKEN_2022_PROGRAM };
  cluster.chain.setAccount('8'.repeat(43), account);
  await step(4, 4);
  const { result } = (await get(`/address/${NOBODY}/portfolio`)).json;
  t.match(result, { totalUsd: 10, items: [{ amount: '1000000', uiAmountString: '3', priceUsd: 10, valueUsd: 10 }] });
});
