import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
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

export const RENT_EXEMPT = MAX_U64;
/** Data of accounts without any: an empty array of each would take 200 bytes, and wallets have none. */
export const NO_BYTES = new Uint8Array(0);

/** Owners are few, and each account names one: the most whose text is kept, as one object for all their accounts. */
const MAX_OWNERS = 10_000;
const owners = new Map<string, string>();

/** Creates the value of an account, in memory of its own. Built in one way, so that V8 gives all the same hidden class. */
export const accountValue = (
  lamports: bigint,
  owner: string,
  executable: boolean,
  rentEpoch: bigint,
  data: Uint8Array,
): AccountValue => ({
  lamports,
  owner: sharedOwner(owner),
  executable,
  rentEpoch: rentEpoch === RENT_EXEMPT ? RENT_EXEMPT : rentEpoch, // one object for all
  data: data.length === 0 ? NO_BYTES : new Uint8Array(data),
});

function sharedOwner(owner: string): string {
  const known = owners.get(owner);
  if (known !== undefined) return known;
  if (owners.size >= MAX_OWNERS) owners.clear();
  owners.set(owner, owner);
  return owner;
}

export interface AccountWrite {
  /** Base58. */
  readonly address: string;
  /** Null for a closed account: a feed sends it with 0 lamports. */
  readonly value: AccountValue | null;
  /** Grows with each write of one node process; says nothing between nodes, nor across a restart. */
  readonly writeVersion: number;
}

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
