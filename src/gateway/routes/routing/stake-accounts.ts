import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { StakeDelegation } from '../../../transactions/index.ts';

export interface OwnedStake {
  readonly address: string;
  readonly lamports: bigint;
  readonly delegation: StakeDelegation | null;
}

/** All stake accounts of a withdrawer at a slot, largest first. */
export interface StakeTable {
  readonly slot: Slot;
  readonly accounts: readonly OwnedStake[];
}

/** Cached stake tables, by withdrawer. */
export interface StakeTables {
  /**
   * Returns the cached table of a withdrawer if it is at `oldestSlot` or later, else caches the one that `scan` returns,
   * which counts for the request of `cost`; null if no node lists them. A scan is at `minSlot` or later, so that no table
   * is older than one before it.
   */
  getOrScan(query: StakeQuery, scan: ScanStakes, cost: RequestCost | undefined): Promise<StakeTable | null>;
}

export type ScanStakes = (minSlot: Slot | undefined) => Promise<StakeTable>;

export interface StakeQuery {
  readonly withdrawer: string;
  readonly oldestSlot: Slot;
}
