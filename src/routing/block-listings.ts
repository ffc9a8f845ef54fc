import type { Slot } from '../domain/slot.ts';
import type { BlockSummary } from '../upstream/reads/block-summary.ts';

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
  /** Where each page ends in {@link rows}. */
  readonly pageEnds: readonly number[];
  /** The programs that most transactions called. */
  readonly programs: readonly ProgramCount[];
  /** The number of the programs that are not among them. */
  readonly otherPrograms: number;
}

/** A listing, and the slot at which it was read. */
export interface BlockListingRead {
  readonly slot: Slot;
  readonly listing: BlockListing;
}

/** For how long a listing is kept. */
export interface KeptBounds {
  /** Undefined for a block that can't change any more. */
  readonly ttlMs: number | undefined;
  /** The slot that a kept listing must have been read at, or a later one. */
  readonly minSlot: Slot;
}

/** Kept listings, by a key that names block and commitment. */
export interface BlockListings {
  /** Returns the kept listing, or keeps what `read` returns. Equal reads are one. */
  getOrRead(key: string, bounds: KeptBounds, read: () => Promise<BlockListingRead>): Promise<BlockListingRead>;
}
