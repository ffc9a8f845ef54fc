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
