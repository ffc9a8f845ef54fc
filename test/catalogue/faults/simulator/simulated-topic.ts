import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { accountJson, CLOSED_ACCOUNT, tokenOwner } from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';
import { accountAt } from './simulated-token-accounts.ts';

/** The notifications of one subscription, as Agave sends them. */
export interface SimulatedTopic {
  /** Starts the subscription when the queue reaches it, with the node at `slot`. */
  begin(slot: Slot): void;
  /** Returns the notifications for a bank that the queue has reached. */
  notificationsAt(slot: Slot): readonly string[];
}

/** Notifies when the newest change of an account differs from the last one notified. */
export function accountTopic(ledger: SimulatedLedger, address: string): SimulatedTopic {
  let notifiedSlot: Slot | undefined;
  const changedAt = (slot: Slot): Slot =>
    ledger.addresses.includes(address) ? ledger.lastChangeSlot(address, slot) : 0;
  return {
    begin: (slot) => {
      notifiedSlot = changedAt(slot);
    },
    notificationsAt: (slot) => {
      if (notifiedSlot === undefined || changedAt(slot) === notifiedSlot) return [];
      notifiedSlot = changedAt(slot);
      return [accountJson(accountAt(ledger, address, slot) ?? CLOSED_ACCOUNT)];
    },
  };
}

/** Notifies of each account that changed in a bank and has the owner after it. */
export function programTopic(ledger: SimulatedLedger, owner: string): SimulatedTopic {
  let hasBegun = false;
  return {
    begin: () => {
      hasBegun = true;
    },
    notificationsAt: (slot) => {
      if (!hasBegun) return [];
      return ledger.addresses.flatMap((address) => {
        const account = accountAt(ledger, address, slot);
        if (account === undefined || ledger.lastChangeSlot(address, slot) !== slot || tokenOwner(account) !== owner)
          return [];
        return [`{"pubkey":"${address}","account":${accountJson(account)}}`];
      });
    },
  };
}
