import { mapConcurrently } from '../runtime/map-concurrently.ts';
import type { PriceSource } from './price-source.ts';

/** The most requests of one look-up that are under way. */
const MAX_CONCURRENT_REQUESTS = 4;

/** The most mints per look-up, as many as a portfolio has: further ones get no price. */
const MAX_MINTS = 1000;

/** Asks a source for so many mints at a time, so that a request that fails takes only its own prices along. */
export function batchedPrices(source: PriceSource, batchSize: number): PriceSource {
  return {
    name: source.name,
    async prices(mints, asOf) {
      const batches = batchesOf(mints.slice(0, MAX_MINTS), batchSize);
      const found = await mapConcurrently(batches, MAX_CONCURRENT_REQUESTS, (batch) => source.prices(batch, asOf));
      return new Map(found.flatMap((prices) => [...prices]));
    },
  };
}

/** Cuts a list into lists of at most so many items. */
export const batchesOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
