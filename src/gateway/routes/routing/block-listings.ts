import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { SingleFlight } from '../../cache/single-flight.ts';
import { runReaching } from '../../serving/min-slot.ts';
import type { BlockSummary } from '../../upstream/reads/block-summary.ts';

/** A program, and how many transactions of a block called it. */
export interface ProgramCount {
  readonly programId: string;
  readonly name: string | null;
  readonly count: number;
}

/** The transactions of a block, a row of JSON each. */
export interface BlockListing {
  readonly block: BlockSummary;
  /** The rows of all pages as JSON, those of a page separated by commas. */
  readonly rows: Uint8Array;
  readonly pageEnds: readonly number[];
  readonly programs: readonly ProgramCount[];
  /** The number of the programs that are not among them. */
  readonly otherPrograms: number;
}

/** A listing, and the slot at which it was read. */
export interface BlockListingRead {
  readonly slot: Slot;
  readonly listing: BlockListing;
  /** The operators that gave the block; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
}

interface CacheBounds {
  /** Undefined for a block that can't change any more. */
  readonly ttlMs: number | undefined;
  readonly minSlot: Slot;
}

/** Maximum memory of all listings: some fifty blocks of mainnet. */
const MAX_BYTES = 32 << 20;
const OVERHEAD_BYTES = 16 << 10;

/** By a key that names block and commitment, up to a total size. Concurrent reads of one share one call. */
export class BlockListings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #listings: LRUCache<string, BlockListingRead>;
  #flights = new SingleFlight<BlockListingRead>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#listings = this.#create();
  }

  /** Forgets all listings, those too that are being read. */
  clear(): void {
    this.#listings = this.#create();
    this.#flights = new SingleFlight();
  }

  async getOrRead(
    key: string,
    { ttlMs = 0, minSlot }: CacheBounds,
    read: () => Promise<BlockListingRead>,
  ): Promise<BlockListingRead> {
    const listings = this.#listings;
    const cached = listings.get(key);
    if (cached !== undefined && cached.slot >= minSlot) return cached;
    return runReaching(this.#flights, key, minSlot, async () => {
      const fresh = await read();
      listings.set(key, fresh, { ttl: ttlMs }); // 0: for good
      return fresh;
    });
  }

  #create(): LRUCache<string, BlockListingRead> {
    return new LRUCache({
      maxSize: MAX_BYTES,
      sizeCalculation: ({ listing }) => listing.rows.length + OVERHEAD_BYTES,
      ...expiresAfter(0, this.#clock), // each has its own
    });
  }
}
