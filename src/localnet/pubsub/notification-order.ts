import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { SlotEvent } from '../bank/chain.ts';
import type { Block } from '../bank/produced-block.ts';

/** Something that a node tells its subscribers about. */
export type PubsubEvent =
  | { readonly kind: 'frozen'; readonly block: Block }
  | { readonly kind: 'root'; readonly slot: Slot }
  /** A block reached a commitment. `changed` are the accounts that differ from what that commitment saw before. */
  | {
      readonly kind: 'bank';
      readonly commitment: Commitment;
      readonly block: Block;
      readonly changed: ReadonlySet<string>;
    }
  /** The bank above `parent` was opened. */
  | { readonly kind: 'created'; readonly slot: Slot; readonly parent: Slot; readonly root: Slot }
  | { readonly kind: 'completed'; readonly slot: Slot }
  | { readonly kind: 'optimisticConfirmation'; readonly slot: Slot };

/**
 * What happens in one slot, in the order in which a node tells of it. The next bank is announced before the accounts of
 * the block below it are confirmed, and one bank's accounts are all told before the next bank's.
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
    { kind: 'frozen', block: processed },
    ...finalized.map(({ slot }): PubsubEvent => ({ kind: 'root', slot })),
    ...finalized.map((block) => bankEvent('finalized', block)),
    bankEvent('processed', processed, revertedAccounts),
    createdEvent(openedSlot, processed.slot),
    { kind: 'completed', slot: processed.slot },
    ...confirmed.flatMap((block): PubsubEvent[] => [
      bankEvent('confirmed', block),
      { kind: 'optimisticConfirmation', slot: block.slot },
    ]),
  ];
}
