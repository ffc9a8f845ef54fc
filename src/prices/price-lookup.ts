import type { PriceSourceName } from '../domain/price-source-names.ts';
import type { Price, PriceAsOf, PriceSource } from './price-source.ts';

/** Values tokens by all sources that are switched on. */
export interface PriceLookup {
  /** The source that is asked first; `none` when nothing is switched on. */
  readonly source: PriceSourceName | 'none';
  /** A price that is older is none, in seconds. */
  readonly maxAgeSec: number;
  /** Prices by mint. A source that can't be asked prices nothing: that is no reason to refuse the whole answer. */
  find(mints: readonly string[], asOf: PriceAsOf): Promise<ReadonlyMap<string, Price>>;
}

export interface PriceLookupOptions {
  readonly maxAgeSec: number;
  /** Called when a source can't be asked. */
  readonly onError: (source: PriceSourceName, cause: unknown) => void;
}

/** One source after another is asked for what those before it don't know. */
export function createPriceLookup(
  sources: readonly PriceSource[],
  { maxAgeSec, onError }: PriceLookupOptions,
): PriceLookup {
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
        } catch (cause) {
          onError(source.name, cause);
        }
      }
      return found;
    },
  };
}
