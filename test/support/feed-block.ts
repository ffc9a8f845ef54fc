import { encodeBlockUpdate, type GeyserBlock, type GeyserWrite } from '../../src/localnet/geyser/geyser-messages.ts';
import type { Slot } from '../../src/shared/domain/slot.ts';

/** The place of a block in its chain, in which the hash of a block is its slot. */
export const linkOf = (slot: Slot, parentSlot = slot - 1) => ({
  ...{ slot, blockhash: `${slot}` },
  ...{ parentSlot, parentBlockhash: `${parentSlot}` },
});

interface FeedBlock extends Partial<Pick<GeyserBlock, 'blockhash' | 'parentSlot' | 'parentBlockhash'>> {
  readonly filters?: readonly string[];
  readonly writes?: readonly GeyserWrite[];
}

/** Returns a block as a feed sends it. */
export const blockUpdate = (slot: Slot, { filters = ['b2'], writes = [], ...link }: FeedBlock = {}): Uint8Array =>
  encodeBlockUpdate(filters, { ...linkOf(slot, link.parentSlot), ...link, transactionCount: 0, writes }, writes);
