import type { Slot } from '../../domain/slot.ts';
import type { Node } from '../rpc/method.ts';
import type { Moment } from './moments.ts';

/** What slotsUpdates subscribers are told of a moment. Nodes call this subscription unstable. */
export function slotsUpdate({ clock, faults }: Node, moment: Moment): readonly unknown[] {
  const told = (slot: Slot): Slot => slot + faults.slotLie;
  const timestamp = clock.now();
  switch (moment.kind) {
    case 'frozen': {
      const { slot, transactions } = moment.block;
      const failed = transactions.filter(({ error }) => error !== null).length;
      const stats = {
        numTransactionEntries: transactions.length,
        numSuccessfulTransactions: transactions.length - failed,
        numFailedTransactions: failed,
        maxTransactionsPerEntry: Math.min(transactions.length, 1),
      };
      return [{ type: 'frozen', slot: told(slot), timestamp, stats }];
    }
    case 'created':
      return [{ type: 'createdBank', slot: told(moment.slot), parent: told(moment.parent), timestamp }];
    case 'root':
    case 'completed':
    case 'optimisticConfirmation':
      return [{ type: moment.kind, slot: told(moment.slot), timestamp }];
    case 'bank':
      return [];
  }
}
