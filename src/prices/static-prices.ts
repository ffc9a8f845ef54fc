import type { Price, PriceSource } from './price-source.ts';

/** Creates a source of prices from the configuration: for pegged tokens, and for tests. */
export const staticPrices = (usdByMint: Readonly<Record<string, number>>): PriceSource => {
  const usdPrices = new Map(Object.entries(usdByMint));
  return {
    name: 'static',
    async prices(mints) {
      return new Map(
        mints.flatMap((mint): [string, Price][] => {
          const usd = usdPrices.get(mint);
          return usd === undefined ? [] : [[mint, { usd, source: 'static', slot: null, time: null }]];
        }),
      );
    },
  };
};
