import type { Commitment } from '../../domain/commitment.ts';
import { CLOCK_SYSVAR } from '../../domain/programs.ts';
import type { Slot } from '../../domain/slot.ts';
import { member, members, safeInteger } from '../json/raw-json.ts';
import type { Subscription } from './connection.ts';
import type { Feed } from './feed.ts';

/**
 * Asks to be told of each slot that a node begins, and of the one that it is built on. Nobody has run the transactions
 * of the former yet; the latter is processed.
 */
export const SLOT_SUBSCRIPTION: Pick<Subscription, 'method' | 'params'> = { method: 'slotSubscribe', params: [] };

/** What comes of {@link SLOT_SUBSCRIPTION}. */
export function slotBegun(result: Buffer): { readonly slot: Slot; readonly parent: Slot } {
  const parts = members(result);
  return { slot: safeInteger(parts.get('slot')), parent: safeInteger(parts.get('parent')) };
}

/** Asks to be told how far a node has come at a commitment: the Clock changes in every slot, so each slot is told. */
export const clockSubscription = (commitment: Commitment): Pick<Subscription, 'method' | 'params'> => ({
  method: 'accountSubscribe',
  params: [CLOCK_SYSVAR, { encoding: 'base64', commitment }],
});

/** Calls `show` with each slot that a node reaches at each commitment, for as long as the feed lives. */
export function followSlots(
  feed: Feed,
  show: (commitment: Commitment, slot: Slot) => void,
  refused: (what: string) => void,
): void {
  const { method, params } = SLOT_SUBSCRIPTION;
  const processed = (result: Buffer) => show('processed', slotBegun(result).parent);
  feed.subscribe(method, params, processed, () => refused('slots'));
  for (const commitment of ['confirmed', 'finalized'] as const) {
    const reached = (result: Buffer) => {
      const context = members(result).get('context');
      if (context !== undefined) show(commitment, safeInteger(member(context, 'slot')));
    };
    const { method, params } = clockSubscription(commitment);
    feed.subscribe(method, params, reached, () => refused(`the clock at ${commitment}`));
  }
}
