import { mapConcurrently } from '../../shared/runtime/map-concurrently.ts';
import { batchesOf } from '../../shared/runtime/map-in-chunks.ts';
import type { FindPrices } from './price-source.ts';

/** The most requests of one look-up that are under way. */
const MAX_CONCURRENT_REQUESTS = 4;

/** Requests `batchSize` mints at a time, and resolves to the answer for each batch. */
export function mapBatches<R>(
  mints: readonly string[],
  batchSize: number,
  request: (batch: readonly string[]) => Promise<R>,
): Promise<readonly R[]> {
  return mapConcurrently(batchesOf(mints, batchSize), MAX_CONCURRENT_REQUESTS, request);
}

/** Requests `batchSize` prices at a time, so that a request that fails loses only its own. */
export const batchedPrices =
  (find: FindPrices, batchSize: number): FindPrices =>
  async (mints, asOf) => {
    const found = await mapBatches(mints, batchSize, (batch) => find(batch, asOf));
    return new Map(found.flatMap((prices) => [...prices]));
  };
