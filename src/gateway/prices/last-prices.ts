import { LRUCache } from 'lru-cache';
import type { Price, PriceSource } from './price-source.ts';

/** The most mints whose last price is cached: a few MB. */
const MAX_MINTS = 10_000;

/** Caches the last price of each mint: while the source fails it is returned as stale, and nothing is rejected. */
export function lastPrices(source: PriceSource): PriceSource {
  const last = new LRUCache<string, Price>({ max: MAX_MINTS });
  return {
    name: source.name,
    async prices(mints, asOf) {
      try {
        const found = await source.prices(mints, asOf);
        for (const mint of mints) last.set(mint, found.get(mint)); // undefined forgets: the source has no price now
        return found;
      } catch {
        return new Map(
          mints.flatMap((mint): [string, Price][] => {
            const price = last.get(mint);
            return price === undefined ? [] : [[mint, { ...price, stale: true }]];
          }),
        );
      }
    },
  };
}
