import type { Clock } from '../domain/clock.ts';
import type { Price, PriceSource } from './price-source.ts';

/** Short beside the age that a price may have, and long beside the time between two requests. */
const TTL_MS = 5000;

/** A few MB. */
const MAX_MINTS = 10_000;

interface CachedPrice {
  /** Undefined where the source knows no price. */
  readonly price: Promise<Price | undefined>;
  readonly expiresMs: number;
}

/**
 * A source whose word on a mint is kept for some seconds, also that it has no price or can't be asked: so it is asked
 * by how many mints there are, not by how many requests. Who wants a mint that is being asked for waits along.
 */
export function cachedPrices(source: PriceSource, clock: Pick<Clock, 'monotonic'>): PriceSource {
  const cache = new Map<string, CachedPrice>();

  const store = (mint: string, price: CachedPrice['price']): void => {
    cache.delete(mint); // to stand last: the first are the oldest
    cache.set(mint, { price, expiresMs: clock.monotonic() + TTL_MS });
    const [oldest] = cache.keys();
    if (cache.size > MAX_MINTS && oldest !== undefined) cache.delete(oldest);
  };

  return {
    name: source.name,
    async prices(mints, asOf) {
      const nowMs = clock.monotonic();
      const wanted = new Map<string, CachedPrice['price']>();
      for (const mint of mints) {
        const known = cache.get(mint);
        if (known !== undefined && known.expiresMs > nowMs) wanted.set(mint, known.price);
      }
      const missing = mints.filter((mint) => !wanted.has(mint));
      if (missing.length > 0) {
        const fetched = source.prices(missing, asOf);
        for (const mint of missing) {
          const price = fetched.then((found) => found.get(mint));
          wanted.set(mint, price);
          store(mint, price);
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
