import type { Clock } from '../../shared/domain/clock.ts';
import { isWrappedSol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { PriceSourceName } from '../../shared/domain/price-source-names.ts';
import { type FindPrices, type Price, type PriceAsOf, pricesOf } from './price-source.ts';

export type PriceLookup = ReturnType<typeof createPriceLookup>;

export interface PriceLookupOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly maxAgeSec: number;
  /** The age from which on a price is not used at all, in seconds. */
  readonly maxStaleSec: number;
}

/** Each source is queried for the mints that those before have no fresh price of. Of stale prices the newest counts. */
export function createPriceLookup(sources: ReadonlyMap<PriceSourceName, FindPrices>, options: PriceLookupOptions) {
  const { clock, maxAgeSec, maxStaleSec } = options;
  /** Returns a price as it is to be used now; undefined if it is too old for that. */
  const judge = (price: Price): Price | undefined => {
    const ageSec = price.time === null ? 0 : clock.now() / 1000 - price.time;
    if (ageSec > maxStaleSec) return undefined;
    return price.stale || ageSec <= maxAgeSec ? price : { ...price, stale: true };
  };
  return {
    /** The first source; `none` when none is configured. */
    source: [...sources.keys()][0] ?? ('none' as const),
    maxAgeSec,
    /** Resolves to prices by mint; that of SOL is the one of wrapped SOL under either program. A source that fails is left out: that is no reason to reject the whole request. */
    async find(mints: readonly string[], asOf: PriceAsOf): Promise<ReadonlyMap<string, Price>> {
      const found = new Map<string, Price>();
      const priced = new Set(mints.map(pricedAs));
      for (const findIn of sources.values()) {
        const wanted = [...priced].filter((mint) => found.get(mint)?.stale !== false);
        if (wanted.length === 0) break;
        try {
          for (const [mint, price] of await findIn(wanted, asOf)) {
            const usable = judge(price);
            if (usable !== undefined && isBetter(usable, found.get(mint))) found.set(mint, usable);
          }
        } catch {
          // reported by the source
        }
      }
      return pricesOf(mints, (mint) => found.get(pricedAs(mint)));
    },
  };
}

const pricedAs = (mint: string): string => (isWrappedSol(mint) ? WRAPPED_SOL : mint);

/** Returns whether a price is better than the one of a source before, which is stale if there is one. */
const isBetter = (price: Price, before: Price | undefined): boolean =>
  before === undefined || !price.stale || (price.time ?? 0) > (before.time ?? 0);
