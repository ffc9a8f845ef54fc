import type { PriceSourceName } from '../domain/price-source-names.ts';
import type { Price, PriceAsOf, PriceSource } from './price-source.ts';

/** Looks up prices in all configured sources. */
export interface PriceLookup {
  /** The first source; `none` when none is configured. */
  readonly source: PriceSourceName | 'none';
  /** The age from which on a price is ignored, in seconds. */
  readonly maxAgeSec: number;
  /** Resolves to prices by mint. A source that fails is left out: that is no reason to reject the whole request. */
  find(mints: readonly string[], asOf: PriceAsOf): Promise<ReadonlyMap<string, Price>>;
}

export interface PriceLookupOptions {
  readonly maxAgeSec: number;
}

/** Creates a look-up that asks each source in turn for the mints that those before have no price of. */
export function createPriceLookup(sources: readonly PriceSource[], { maxAgeSec }: PriceLookupOptions): PriceLookup {
  return {
    source: sources[0]?.name ?? 'none',
    maxAgeSec,
    async find(mints, asOf) {
      const found = new Map<string, Price>();
      for (const source of sources) {
        const missing = [...new Set(mints)].filter((mint) => !found.has(mint));
        if (missing.length === 0) break;
        try {
          for (const [mint, price] of await source.prices(missing, asOf)) found.set(mint, price);
        } catch {
          // told by the source: its outage is no reason to reject the whole request
        }
      }
      return found;
    },
  };
}
