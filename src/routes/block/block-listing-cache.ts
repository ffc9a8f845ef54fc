import { LRUCache } from 'lru-cache';
import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import type { BlockListingRead, BlockListings, KeptBounds } from '../../routing/block-listings.ts';

/** Maximum memory of all listings: some fifty blocks of mainnet. */
const MAX_BYTES = 32 << 20;

/** Memory of a listing besides its rows: summary, counted programs, entry. */
const OVERHEAD_BYTES = 16 << 10;

interface KeptListing {
  readonly read: BlockListingRead;
  readonly expiresMs: number;
}

/** Keeps listings of blocks up to a total size, the least used go first. Concurrent reads of one share one call. */
export class BlockListingCache implements BlockListings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new LRUCache<string, KeptListing>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ read }) => read.listing.rows.length + OVERHEAD_BYTES,
  });
  readonly #flights = new SingleFlight<BlockListingRead>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async getOrRead(
    key: string,
    { ttlMs, minSlot }: KeptBounds,
    read: () => Promise<BlockListingRead>,
  ): Promise<BlockListingRead> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.read.slot >= minSlot && this.#clock.monotonic() < kept.expiresMs) return kept.read;
    return this.#flights.run(key, async () => {
      const fresh = await read();
      const expiresMs = this.#clock.monotonic() + (ttlMs ?? Number.POSITIVE_INFINITY);
      this.#kept.set(key, { read: fresh, expiresMs });
      return fresh;
    });
  }
}
