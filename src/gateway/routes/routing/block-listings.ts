import { LRUCache } from 'lru-cache';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';
import { SharedReads } from '../../serving/shared-reads.ts';
import type { BlockSummary } from '../../upstream/reads/block-summary.ts';

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
  readonly otherPrograms: number;
}

export interface BlockListingRead {
  readonly slot: Slot;
  readonly listing: BlockListing;
  /** The operators that gave the block; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
}

/** Maximum memory of all listings: some fifty blocks of mainnet. */
const MAX_BYTES = 32 << 20;
const OVERHEAD_BYTES = 16 << 10;

export type BlockListings = SharedReads<BlockListingRead>;

/** Creates what caches listings by a key that names block and commitment, each for a time of its own, up to a total size. */
export const createBlockListings = (clock: Pick<Clock, 'monotonic'>): BlockListings =>
  new SharedReads(
    () =>
      new LRUCache({
        maxSize: MAX_BYTES,
        sizeCalculation: ({ listing }) => listing.rows.length + OVERHEAD_BYTES,
        ...expiresAfter(0, clock),
      }),
  );
