import type { PriceSourceName } from '../domain/price-source.ts';
import type { Price, PricedAt, PriceSource } from './price-source.ts';

/** Values tokens by all sources that are switched on. */
export interface Prices {
  /** The source that is asked first; `none` when nothing is switched on. */
  readonly source: PriceSourceName | 'none';
  /** A price that is older is none, in seconds. */
  readonly maxAgeSec: number;
  /** Prices by mint. A source that can't be asked prices nothing: that is no reason to refuse the whole answer. */
  of(mints: readonly string[], at: PricedAt): Promise<ReadonlyMap<string, Price>>;
}

export interface PricesOptions {
  readonly maxAgeSec: number;
  /** Called when a source can't be asked. */
  readonly onError: (source: PriceSourceName, cause: unknown) => void;
}

/** One source after another is asked for what those before it don't know. */
export function openPrices(sources: readonly PriceSource[], { maxAgeSec, onError }: PricesOptions): Prices {
  return {
    source: sources[0]?.name ?? 'none',
    maxAgeSec,
    async of(mints, at) {
      const found = new Map<string, Price>();
      for (const source of sources) {
        const missing = [...new Set(mints)].filter((mint) => !found.has(mint));
        if (missing.length === 0) break;
        try {
          for (const [mint, price] of await source.prices(missing, at)) found.set(mint, price);
        } catch (cause) {
          onError(source.name, cause);
        }
      }
      return found;
    },
  };
}
