import { mapBatches } from './map-batches.ts';
import type { PriceSource } from './price-source.ts';

/** Requests `batchSize` prices at a time, so that a request that fails loses only its own. */
export function batchedPrices(source: PriceSource, batchSize: number): PriceSource {
  return {
    name: source.name,
    async prices(mints, asOf) {
      const found = await mapBatches(mints, batchSize, (batch) => source.prices(batch, asOf));
      return new Map(found.flatMap((prices) => [...prices]));
    },
  };
}
