import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import { gatherMints } from './gather-mints.ts';
import { type FindPrices, type Price, type PriceAsOf, pricesOf } from './price-source.ts';

/** The time for which a price is cached: short against the age that a price may have, long against the time between requests. */
const TTL_MS = 5000;

/** The most mints whose prices are cached: a few MB. */
const MAX_MINTS = 10_000;

/**
 * Requests at most `batchSize` prices at a time, so that a request that fails loses only its own. Also caches that a source has
 * no price: its load depends on the number of mints, not of requests.
 */
export function cachedPrices(find: FindPrices, batchSize: number, clock: Pick<Clock, 'monotonic'>): FindPrices {
  const cache = new LRUCache<string, { readonly price: Price | undefined }>({
    ...atMost(MAX_MINTS),
    ...expiresAfter(TTL_MS, clock),
  });
  const gathered = gatherMints(batchSize, async (mints, asOf: PriceAsOf) => {
    const found = await find(mints, asOf);
    for (const mint of mints) cache.set(mint, { price: found.get(mint) });
    return found;
  });
  return async (mints, asOf) => {
    const priceOf = async (mint: string) => {
      const cached = cache.peek(mint); // the oldest is evicted, not the least used
      return [mint, cached === undefined ? (await gathered(mint, asOf)).get(mint) : cached.price] as const;
    };
    const found = new Map(await Promise.all(mints.map(priceOf)));
    return pricesOf(mints, (mint) => found.get(mint));
  };
}

/** Caches the last price of each mint: while the source fails it is returned as stale, and nothing is rejected. */
export function lastPrices(findNow: FindPrices): { readonly find: FindPrices; clear(): void } {
  const create = () => new LRUCache<string, Price>(atMost(MAX_MINTS));
  let last = create();
  return {
    clear() {
      last = create(); // what is being read goes to the former one
    },
    async find(mints, asOf) {
      const known = last;
      try {
        const found = await findNow(mints, asOf);
        for (const mint of mints) known.set(mint, found.get(mint)); // undefined forgets: the source has no price now
        return found;
      } catch {
        return pricesOf(mints, (mint) => {
          const price = known.get(mint);
          return price && { ...price, stale: true };
        });
      }
    },
  };
}
