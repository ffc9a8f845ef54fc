import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { malformed } from '../json/json-scanner.ts';
import { parseSafeInteger, pickMembers } from '../json/raw-json.ts';
import type { Notification } from './pubsub-channel.ts';
import type { RenewedSubscription } from './reconnecting-channel.ts';

type SubscribeRequest = Pick<RenewedSubscription, 'method' | 'params'>;

/** Each slot that a node starts (`slotSubscribe`); its transactions have not run yet, its parent is processed. */
export const SLOT_SUBSCRIPTION: SubscribeRequest = { method: 'slotSubscribe', params: [] };

/** The longest notification of a slot: three numbers and their names. */
const MAX_SLOT_BYTES = 1024;

export function parseSlotNotification(result: Buffer): { readonly slot: Slot; readonly parent: Slot } {
  if (result.length > MAX_SLOT_BYTES) throw malformed();
  const [slot, parent] = pickMembers(result, ['slot', 'parent']);
  return { slot: parseSafeInteger(slot), parent: parseSafeInteger(parent) };
}

/** Creates the subscription to the Clock sysvar at a commitment. The Clock changes in every slot, so each slot notifies. */
export const clockSubscription = (commitment: Commitment): SubscribeRequest => ({
  method: 'accountSubscribe',
  params: [CLOCK_SYSVAR, { encoding: 'base64', commitment }],
});

export interface SlotHandler {
  onParent(slot: Slot, parent: Slot): void;
  onSlot(commitment: Commitment, slot: Slot): void;
  onRejected(what: string): void;
}

/** Returns what reports each slot that a node reaches at each of the commitments, and its parent before. */
export const slotSubscriptions = (
  commitments: readonly Commitment[],
  { onParent, onSlot, onRejected }: SlotHandler,
): readonly RenewedSubscription[] => [
  {
    ...SLOT_SUBSCRIPTION,
    onNotification({ result }) {
      const { slot, parent } = parseSlotNotification(result);
      onParent(slot, parent);
      onSlot('processed', parent);
    },
    onRejected: () => onRejected('slots'),
  },
  ...commitments
    .filter((commitment) => commitment !== 'processed')
    .map((commitment) => ({
      ...clockSubscription(commitment),
      onNotification: ({ slot }: Notification) => onSlot(commitment, parseSafeInteger(slot)),
      onRejected: () => onRejected(`the clock at ${commitment}`),
    })),
];
