import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import { CLOCK_SYSVAR } from '../../domain/well-known-addresses.ts';
import { member, members, parseSafeInteger } from '../json/raw-json.ts';
import type { ChannelSubscription } from './pubsub-channel.ts';
import type { ReconnectingFeed } from './reconnecting-feed.ts';

/**
 * Asks to be told of each slot that a node begins, and of the one that it is built on. Nobody has run the transactions
 * of the former yet; the latter is processed.
 */
export const SLOT_SUBSCRIPTION: Pick<ChannelSubscription, 'method' | 'params'> = {
  method: 'slotSubscribe',
  params: [],
};

/** What comes of {@link SLOT_SUBSCRIPTION}. */
export function parseSlotNotification(result: Buffer): { readonly slot: Slot; readonly parent: Slot } {
  const parts = members(result);
  return { slot: parseSafeInteger(parts.get('slot')), parent: parseSafeInteger(parts.get('parent')) };
}

/** Asks to be told how far a node has come at a commitment: the Clock changes in every slot, so each slot is told. */
export const clockSubscription = (commitment: Commitment): Pick<ChannelSubscription, 'method' | 'params'> => ({
  method: 'accountSubscribe',
  params: [CLOCK_SYSVAR, { encoding: 'base64', commitment }],
});

/** Calls `show` with each slot that a node reaches at each commitment, for as long as the feed lives. */
export function subscribeToSlots(
  feed: ReconnectingFeed,
  onSlot: (commitment: Commitment, slot: Slot) => void,
  onRejected: (what: string) => void,
): void {
  const { method, params } = SLOT_SUBSCRIPTION;
  const onSlotNotification = (result: Buffer) => onSlot('processed', parseSlotNotification(result).parent);
  feed.subscribe(method, params, onSlotNotification, () => onRejected('slots'));
  for (const commitment of ['confirmed', 'finalized'] as const) {
    const onClockNotification = (result: Buffer) => {
      const context = members(result).get('context');
      if (context !== undefined) onSlot(commitment, parseSafeInteger(member(context, 'slot')));
    };
    const { method, params } = clockSubscription(commitment);
    feed.subscribe(method, params, onClockNotification, () => onRejected(`the clock at ${commitment}`));
  }
}
