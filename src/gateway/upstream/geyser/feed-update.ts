import type { Slot } from '../../../shared/domain/slot.ts';

/** What Solana stores at an address, as a feed sends it. */
export interface AccountValue {
  readonly lamports: bigint;
  /** Base58 address of the program that owns the account. */
  readonly owner: string;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
  readonly data: Uint8Array;
}

/** An account after a write. */
export interface AccountWrite {
  /** The 32 bytes of the address as Latin-1 text: base58 of each would take longer than all else. */
  readonly key: string;
  /** Null for a closed account: a feed sends it with 0 lamports. */
  readonly value: AccountValue | null;
  /** Grows with each write of one node process; says nothing between nodes, nor across a restart. */
  readonly writeVersion: number;
}

/** A block and the block before it. */
export interface BlockLink {
  readonly slot: Slot;
  readonly blockhash: string;
  readonly parentSlot: Slot;
  readonly parentBlockhash: string;
}

export type SlotStatus = 'processed' | 'confirmed' | 'finalized' | 'dead' | 'other';

/** One message of a feed. `filters` are the names of the filters that it matched. */
export type FeedUpdate =
  | { readonly kind: 'account'; readonly filters: readonly string[]; readonly slot: Slot; readonly write: AccountWrite }
  | ({
      readonly kind: 'block';
      readonly filters: readonly string[];
      readonly writes: readonly AccountWrite[];
    } & BlockLink)
  | ({ readonly kind: 'block-meta'; readonly filters: readonly string[] } & BlockLink)
  | { readonly kind: 'slot'; readonly slot: Slot; readonly status: SlotStatus }
  | { readonly kind: 'ping' }
  | { readonly kind: 'other' };
