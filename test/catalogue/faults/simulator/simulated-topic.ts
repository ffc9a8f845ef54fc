import type { Slot } from '../../../../src/domain/slot.ts';
import { accountJson, CLOSED_ACCOUNT, tokenOwner } from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';
import { accountAt } from './simulated-token-accounts.ts';

/** What one subscription tells of, as agave has it. */
export interface SimulatedTopic {
  /** The node's queue has come to it, while the node itself is at `slot`. */
  begin(slot: Slot): void;
  /** What is told of a bank that the queue has come to. */
  notificationsAt(slot: Slot): readonly string[];
}

/** Tells of an account whose newest change is another one than was told last. */
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

/** Tells of each account that was changed in a bank, and is an owner's after it. */
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
