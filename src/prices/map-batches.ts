import { batchesOf } from '../runtime/batches-of.ts';
import { mapConcurrently } from '../runtime/map-concurrently.ts';

/** The most requests of one look-up that are under way. */
const MAX_CONCURRENT_REQUESTS = 4;

/** The most mints per look-up, as many as a portfolio has: further ones are not looked up. */
const MAX_MINTS = 1000;

/** Asks a service for so many mints at a time, and resolves to what it said of each batch. */
export function mapBatches<R>(
  mints: readonly string[],
  batchSize: number,
  ask: (batch: readonly string[]) => Promise<R>,
): Promise<readonly R[]> {
  return mapConcurrently(batchesOf(mints.slice(0, MAX_MINTS), batchSize), MAX_CONCURRENT_REQUESTS, ask);
}
