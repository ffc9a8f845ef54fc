import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { SlotEvent } from '../bank/chain.ts';
import type { Block } from '../bank/produced-block.ts';

/** Event that a node notifies its subscribers of. */
export type PubsubEvent =
  /** A block reached a commitment; `changed` are the accounts that differ from the state this commitment had before. */
  | {
      readonly kind: 'bank';
      readonly commitment: Commitment;
      readonly block: Block;
      readonly changed: ReadonlySet<string>;
    }
  /** A bank was opened on top of `parent`. */
  | { readonly kind: 'created'; readonly slot: Slot; readonly parent: Slot; readonly root: Slot };

/**
 * Returns the events of one slot in the order in which a node sends their notifications. The next bank is announced
 * before the accounts of the block below it are confirmed, and all accounts of one bank precede those of the next.
 */
export function pubsubEventsOf(event: SlotEvent): PubsubEvent[] {
  const { processed, isFirstOfFork, revertedAccounts, confirmed, finalized, openedSlot, root } = event;
  const bankEvent = (commitment: Commitment, block: Block, extraAccounts?: ReadonlySet<string>): PubsubEvent => ({
    kind: 'bank',
    commitment,
    block,
    changed:
      extraAccounts === undefined || extraAccounts.size === 0
        ? block.changedAccounts
        : new Set([...extraAccounts, ...block.changedAccounts]),
  });
  const createdEvent = (slot: Slot, parent: Slot): PubsubEvent => ({ kind: 'created', slot, parent, root });
  return [
    ...(isFirstOfFork ? [createdEvent(processed.slot, processed.parentSlot)] : []),
    ...finalized.map((block) => bankEvent('finalized', block)),
    bankEvent('processed', processed, revertedAccounts),
    createdEvent(openedSlot, processed.slot),
    ...confirmed.map((block) => bankEvent('confirmed', block)),
  ];
}
