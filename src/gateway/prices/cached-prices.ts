import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import type { Price, PriceSource } from './price-source.ts';

/** The time for which a price is cached: short against the age that a price may have, long against the time between requests. */
const TTL_MS = 5000;

/** The most mints whose prices are cached: a few MB. */
const MAX_MINTS = 10_000;

/** Also caches that a source has no price, or failed: its load depends on the number of mints, not of requests. */
export function cachedPrices(source: PriceSource, clock: Pick<Clock, 'monotonic'>): PriceSource {
  /** A price resolves to undefined when the source has none. */
  const cache = new LRUCache<string, Promise<Price | undefined>>({
    ...atMost(MAX_MINTS),
    ...expiresAfter(TTL_MS, clock),
  });
  return {
    name: source.name,
    async prices(mints, asOf) {
      const wanted = new Map(mints.map((mint) => [mint, cache.peek(mint)] as const)); // the oldest is evicted, not the least used
      const missing = mints.filter((mint) => wanted.get(mint) === undefined);
      if (missing.length > 0) {
        const fetched = source.prices(missing, asOf);
        for (const mint of missing) {
          const price = fetched.then((found) => found.get(mint));
          wanted.set(mint, price);
          cache.set(mint, price);
        }
      }
      await Promise.all(wanted.values());
      const found = new Map<string, Price>();
      for (const [mint, price] of wanted) {
        const known = await price;
        if (known !== undefined) found.set(mint, known);
      }
      return found;
    },
  };
}

/** Caches the last price of each mint: while the source fails it is returned as stale, and nothing is rejected. */
export function lastPrices(source: PriceSource): PriceSource & { clear(): void } {
  const create = () => new LRUCache<string, Price>(atMost(MAX_MINTS));
  let last = create();
  return {
    name: source.name,
    clear() {
      last = create(); // what is being read goes to the former one
    },
    async prices(mints, asOf) {
      const known = last;
      try {
        const found = await source.prices(mints, asOf);
        for (const mint of mints) known.set(mint, found.get(mint)); // undefined forgets: the source has no price now
        return found;
      } catch {
        return new Map(
          mints.flatMap((mint): [string, Price][] => {
            const price = known.get(mint);
            return price === undefined ? [] : [[mint, { ...price, stale: true }]];
          }),
        );
      }
    },
  };
}
