import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Block } from '../bank/block.ts';
import type { SlotEvent } from '../bank/chain.ts';

/** Something that a node tells its subscribers about. */
export type Moment =
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
export function moments(event: SlotEvent): Moment[] {
  const { processed, isBranch, reverted, confirmed, finalized, created, root } = event;
  const bank = (commitment: Commitment, block: Block, more?: ReadonlySet<string>): Moment => ({
    kind: 'bank',
    commitment,
    block,
    changed: more === undefined || more.size === 0 ? block.changed : new Set([...more, ...block.changed]),
  });
  const begun = (slot: Slot, parent: Slot): Moment => ({ kind: 'created', slot, parent, root });
  return [
    ...(isBranch ? [begun(processed.slot, processed.parentSlot)] : []),
    { kind: 'frozen', block: processed },
    ...finalized.map(({ slot }): Moment => ({ kind: 'root', slot })),
    ...finalized.map((block) => bank('finalized', block)),
    bank('processed', processed, reverted),
    begun(created, processed.slot),
    { kind: 'completed', slot: processed.slot },
    ...confirmed.flatMap((block): Moment[] => [
      bank('confirmed', block),
      { kind: 'optimisticConfirmation', slot: block.slot },
    ]),
  ];
}
