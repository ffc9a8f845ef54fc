import type { Clock } from '../domain/clock.ts';
import type { Price, PriceSource } from './price-source.ts';

/** Short beside the age that a price may have, and long beside the time between two requests. */
const LIFE_MS = 5000;

/** A few MB. */
const MOST_MINTS = 10_000;

interface Kept {
  /** Undefined where the source knows no price. */
  readonly price: Promise<Price | undefined>;
  readonly untilMs: number;
}

/**
 * A source whose word on a mint is kept for some seconds, also that it has no price or can't be asked: so it is asked
 * by how many mints there are, not by how many requests. Who wants a mint that is being asked for waits along.
 */
export function keptPrices(source: PriceSource, clock: Pick<Clock, 'monotonic'>): PriceSource {
  const kept = new Map<string, Kept>();

  const keep = (mint: string, price: Kept['price']): void => {
    kept.delete(mint); // to stand last: the first are the oldest
    kept.set(mint, { price, untilMs: clock.monotonic() + LIFE_MS });
    const [oldest] = kept.keys();
    if (kept.size > MOST_MINTS && oldest !== undefined) kept.delete(oldest);
  };

  return {
    name: source.name,
    async prices(mints, at) {
      const nowMs = clock.monotonic();
      const wanted = new Map<string, Kept['price']>();
      for (const mint of mints) {
        const known = kept.get(mint);
        if (known !== undefined && known.untilMs > nowMs) wanted.set(mint, known.price);
      }
      const missing = mints.filter((mint) => !wanted.has(mint));
      if (missing.length > 0) {
        const asked = source.prices(missing, at);
        for (const mint of missing) {
          const price = asked.then((found) => found.get(mint));
          wanted.set(mint, price);
          keep(mint, price);
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
