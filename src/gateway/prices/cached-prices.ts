import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import { gatherMints } from './gather-mints.ts';
import { type FindPrices, type Price, pricesOf } from './price-source.ts';

/** The time for which a price is cached: short against the age that a price may have, long against the time between requests. */
const TTL_MS = 5000;

/** The most mints whose prices are cached: a few MB. */
const MAX_MINTS = 10_000;

/** Also caches that a source has no price, or failed: its load depends on the number of mints, not of requests. */
export function cachedPrices(find: FindPrices, clock: Pick<Clock, 'monotonic'>): FindPrices {
  /** A price resolves to undefined when the source has none. */
  const cache = new LRUCache<string, Promise<Price | undefined>>({
    ...atMost(MAX_MINTS),
    ...expiresAfter(TTL_MS, clock),
  });
  return async (mints, asOf) => {
    const wanted = new Map(mints.map((mint) => [mint, cache.peek(mint)] as const)); // the oldest is evicted, not the least used
    const missing = mints.filter((mint) => wanted.get(mint) === undefined);
    if (missing.length > 0) {
      const fetched = find(missing, asOf);
      for (const mint of missing) {
        const price = fetched.then((found) => found.get(mint));
        wanted.set(mint, price);
        cache.set(mint, price);
      }
    }
    const found = new Map(await Promise.all([...wanted].map(async ([mint, price]) => [mint, await price] as const)));
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

/** Requests at most `batchSize` prices at a time, so that a request that fails loses only its own. */
export function batchedPrices(find: FindPrices, batchSize: number): FindPrices {
  const gathered = gatherMints(batchSize, find);
  return async (mints, asOf) => {
    const found = new Map(
      await Promise.all(mints.map(async (mint) => [mint, (await gathered(mint, asOf)).get(mint)] as const)),
    );
    return pricesOf(mints, (mint) => found.get(mint));
  };
}
