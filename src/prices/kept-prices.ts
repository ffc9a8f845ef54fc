import { LRUCache } from 'lru-cache';
import type { Price, PriceSource } from './price-source.ts';

/** The most mints whose last price is kept: a few MB. */
const MAX_MINTS = 10_000;

/** Keeps the last price of each mint: while the source fails it is given as stale, and nothing is rejected. */
export function keptPrices(source: PriceSource): PriceSource {
  const kept = new LRUCache<string, Price>({ max: MAX_MINTS });
  return {
    name: source.name,
    async prices(mints, asOf) {
      try {
        const found = await source.prices(mints, asOf);
        for (const mint of mints) kept.set(mint, found.get(mint)); // undefined forgets: the source has no price now
        return found;
      } catch {
        return new Map(
          mints.flatMap((mint): [string, Price][] => {
            const last = kept.get(mint);
            return last === undefined ? [] : [[mint, { ...last, stale: true }]];
          }),
        );
      }
    },
  };
}
