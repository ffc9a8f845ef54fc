import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { startGateway, waitFor } from '../support/harness.ts';

t.test('a gateway without configuration shows a portfolio valued by on-chain prices', async (t) => {
  const { get } = await startGateway(t, []);
  const target = `/address/${WALLETS[0].address}/portfolio`;
  await waitFor(async () => (await get(target)).status === 200, 'a portfolio');
  const { json } = await get(target);
  const { result } = json;
  t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain' });
  t.ok(result.totalUsd > 0);
  t.equal(result.pricedCount, result.items.length);
  t.ok(result.items.length > 1);
  for (const { mint, priceUsd, priceSource, priceSlot, valueUsd } of result.items) {
    t.ok(mint in PRICE_FEEDS);
    t.equal(priceSource, 'pyth-onchain');
    t.ok(priceUsd > 0 && valueUsd > 0);
    t.ok(priceSlot > 0);
  }
  t.match((await get(`/token/${result.items[1].mint}`)).json.result, { priceSource: 'pyth-onchain' });
});
