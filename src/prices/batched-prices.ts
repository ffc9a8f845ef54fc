import { mapBatches } from './map-batches.ts';
import type { PriceSource } from './price-source.ts';

/** Asks a source for so many mints at a time, so that a request that fails takes only its own prices along. */
export function batchedPrices(source: PriceSource, batchSize: number): PriceSource {
  return {
    name: source.name,
    async prices(mints, asOf) {
      const found = await mapBatches(mints, batchSize, (batch) => source.prices(batch, asOf));
      return new Map(found.flatMap((prices) => [...prices]));
    },
  };
}
