import type { Lease } from './lease.ts';
import type { Slot } from './slot.ts';

/** What a read returns: the data and the slot at which it holds. */
export interface Answer<T> {
  readonly slot: Slot;
  readonly result: T;
  /** True when the cluster can no longer change it: a finalized block, a finalized transaction. */
  readonly final?: boolean;
  /** Whether the result is a pure function of the ledger at its slot, where only what was read can tell. */
  readonly exact?: boolean;
  /** True when it is cut from a snapshot that only a newer one replaces: its slot can't go back from page to page. */
  readonly fromSnapshot?: boolean;
  /** Vouches for it at later slots too. */
  readonly lease?: Lease | undefined;
}
