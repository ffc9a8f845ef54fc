import type { Agreement } from './agreement.ts';
import type { Lease } from './lease.ts';
import type { Slot } from './slot.ts';

/** The result of a read, and the slot at which it holds. */
export interface Answer<T> {
  readonly slot: Slot;
  readonly result: T;
  /** True when the cluster can no longer change it: a finalized block, a finalized transaction. */
  readonly final?: boolean;
  /** True when the result is a pure function of the ledger at its slot, where only the data shows it. */
  readonly exact?: boolean;
  /**
   * The first slot at which the result is proven to be the state of its slot: a node may have read it from a newer root.
   * Below it the answer isn't `exact`. Default: proven at each slot.
   */
  readonly provenFrom?: Slot | undefined;
  /** The operators that gave the result at its slot. Without enough of them the answer isn't `exact`. Default: one gave it. */
  readonly agreement?: Agreement | undefined;
  /** True for a page of a snapshot that only a newer one replaces: the slot can't go back from page to page. */
  readonly fromSnapshot?: boolean;
  /** True when it must not be cached, since a part of it could not be read: the next request tries again. */
  readonly uncached?: boolean;
  readonly lease?: Lease | undefined;
}
