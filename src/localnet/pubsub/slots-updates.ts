import type { Slot } from '../../domain/slot.ts';
import type { NodeContext } from '../rpc/method-handler.ts';
import type { PubsubEvent } from './notification-order.ts';

/** Events of which slotsUpdates subscribers are notified. */
export const SLOTS_UPDATES_EVENTS = [
  'frozen',
  'created',
  'root',
  'completed',
  'optimisticConfirmation',
] as const satisfies PubsubEvent['kind'][];

/**
 * Returns the results that an event gives to slotsUpdates subscribers. Solana's documentation calls this subscription
 * unstable.
 */
export function slotsUpdatesOf({ clock, faults }: NodeContext, event: PubsubEvent): readonly unknown[] {
  const skewed = (slot: Slot): Slot => slot + faults.slotSkew;
  const timestamp = clock.now();
  switch (event.kind) {
    case 'frozen': {
      const { slot, transactions } = event.block;
      const failed = transactions.filter(({ error }) => error !== null).length;
      const stats = {
        numTransactionEntries: transactions.length,
        numSuccessfulTransactions: transactions.length - failed,
        numFailedTransactions: failed,
        maxTransactionsPerEntry: Math.min(transactions.length, 1),
      };
      return [{ type: 'frozen', slot: skewed(slot), timestamp, stats }];
    }
    case 'created':
      return [{ type: 'createdBank', slot: skewed(event.slot), parent: skewed(event.parent), timestamp }];
    case 'root':
    case 'completed':
    case 'optimisticConfirmation':
      return [{ type: event.kind, slot: skewed(event.slot), timestamp }];
    case 'bank':
      return [];
  }
}
