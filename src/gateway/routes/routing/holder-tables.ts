import type { Slot } from '../../../shared/domain/slot.ts';
import type { AmountScale } from '../../../transactions/index.ts';

export interface Holder {
  readonly address: string;
  readonly owner: string;
  readonly amount: bigint;
}

export interface OwnerHolding {
  readonly owner: string;
  readonly amount: bigint;
  readonly accounts: number;
}

export interface OwnerTable {
  readonly total: number;
  rows(from: number, to: number): OwnerHolding[];
}

/** All holders of a mint at a slot, largest first, then by the bytes of their addresses. */
export interface HolderTable {
  readonly slot: Slot;
  /** The supply of the mint, and the scale of its amounts, of the same time. */
  readonly supply: bigint;
  readonly scale: AmountScale;
  readonly total: number;
  /** Memory of the table in bytes, with that of its owners once they are added up. */
  readonly bytes: number;
  rows(from: number, to: number): Holder[];
  /** Returns the same holders added up by owner, which takes long the first time. */
  owners(): Promise<OwnerTable>;
}

/** What makes tables of holders. A thread gets plain bytes where it was sent a Buffer; results are memory that threads share. */
export type TablingTasks = {
  readonly packHolders: (...lists: Uint8Array[]) => SharedArrayBuffer;
  readonly packOwners: (holders: SharedArrayBuffer) => SharedArrayBuffer;
};
