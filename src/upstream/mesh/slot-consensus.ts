import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';

/** What a member must know of the others. */
export interface SlotConsensus {
  /** Whether a node with this genesis hash belongs to the mesh. */
  verifyGenesis(genesisHash: string): boolean;
  /** A node says that it is at a slot. */
  observe(nodeId: string, commitment: Commitment, slot: Slot): void;
  /** Whether this slot is believed to have been reached. */
  isAccepted(commitment: Commitment, slot: Slot): boolean;
  /** Whether a node tells of slots that are not believed. */
  isSuspect(nodeId: string): boolean;
  /** A node shows a slot that is believed. */
  advanceTip(commitment: Commitment, slot: Slot): void;
  /** The newest slot of the whole mesh. */
  tip(commitment: Commitment): Slot | undefined;
}
