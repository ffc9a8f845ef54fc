import { LRUCache } from 'lru-cache';
import type { Clock } from '../domain/clock.ts';
import type { Price, PriceSource } from './price-source.ts';

/** The time for which a price is cached: short against the age that a price may have, long against the time between requests. */
const TTL_MS = 5000;

/** The most mints whose prices are cached: a few MB. */
const MAX_MINTS = 10_000;

interface CachedPrice {
  /** Resolves to undefined when the source has no price. */
  readonly price: Promise<Price | undefined>;
  readonly expiresMs: number;
}

/**
 * Caches a source's prices for some seconds, and also that it has none or failed, so that its load depends on the
 * number of mints and not on the number of requests. Callers that want a mint which is being requested share the result.
 */
export function cachedPrices(source: PriceSource, clock: Pick<Clock, 'monotonic'>): PriceSource {
  const cache = new LRUCache<string, CachedPrice>({ max: MAX_MINTS });

  return {
    name: source.name,
    async prices(mints, asOf) {
      const nowMs = clock.monotonic();
      const wanted = new Map<string, CachedPrice['price']>();
      for (const mint of mints) {
        const known = cache.peek(mint); // the oldest is evicted, not the least used
        if (known !== undefined && known.expiresMs > nowMs) wanted.set(mint, known.price);
      }
      const missing = mints.filter((mint) => !wanted.has(mint));
      if (missing.length > 0) {
        const fetched = source.prices(missing, asOf);
        for (const mint of missing) {
          const price = fetched.then((found) => found.get(mint));
          wanted.set(mint, price);
          cache.set(mint, { price, expiresMs: clock.monotonic() + TTL_MS });
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
