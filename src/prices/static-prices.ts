import { parseDecimal } from '../solana/codec/decimal.ts';
import { formatDouble } from '../solana/codec/format-decimal.ts';
import type { Price, PriceSource } from './price-source.ts';

/** Creates a source of prices from the configuration: for pegged tokens, and for tests. */
export const staticPrices = (usdByMint: Readonly<Record<string, number>>): PriceSource => {
  const usdPrices = new Map(Object.entries(usdByMint).map(([mint, usd]) => [mint, parseDecimal(formatDouble(usd))]));
  return {
    name: 'static',
    async prices(mints) {
      return new Map(
        mints.flatMap((mint): [string, Price][] => {
          const usd = usdPrices.get(mint);
          return usd === undefined ? [] : [[mint, { usd, source: 'static', slot: null, time: null, stale: false }]];
        }),
      );
    },
  };
};
