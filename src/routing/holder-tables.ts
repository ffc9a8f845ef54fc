import type { Slot } from '../domain/slot.ts';

/** A token account that holds something, and whose it is. */
export interface Holder {
  readonly address: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** All holders of a mint at some slot, largest first, then by the bytes of their addresses. */
export interface HolderTable {
  readonly slot: Slot;
  readonly total: number;
  /** Memory that it takes. */
  readonly bytes: number;
  rows(from: number, to: number): Holder[];
}

/** Tables of holders that were read lately. */
export interface HolderTables {
  /** Returns the table of a mint while it lives. */
  get(mint: string): HolderTable | undefined;
  /** Returns the living table of a mint, or the one that `read` makes. */
  getOrRead(mint: string, read: () => Promise<HolderTable>): Promise<HolderTable>;
}
