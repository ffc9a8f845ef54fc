import type { Slot } from '../../../../src/domain/slot.ts';
import { CLOSED_ACCOUNT, jsonOf, ownerOf } from '../../../support/token-account-fixtures.ts';
import type { Ledger } from './ledger.ts';
import { accountAt } from './token-world.ts';

/** What one subscription tells of, as agave has it. */
export interface Topic {
  /** The node's queue has come to it, while the node itself is at `slot`. */
  begin(slot: Slot): void;
  /** What is told of a bank that the queue has come to. */
  news(slot: Slot): readonly string[];
}

/** Tells of an account whose newest change is another one than was told last. */
export function accountTopic(ledger: Ledger, address: string): Topic {
  let told: Slot | undefined;
  const changedAt = (slot: Slot): Slot => (ledger.addresses.includes(address) ? ledger.changedAt(address, slot) : 0);
  return {
    begin: (slot) => {
      told = changedAt(slot);
    },
    news: (slot) => {
      if (told === undefined || changedAt(slot) === told) return [];
      told = changedAt(slot);
      return [jsonOf(accountAt(ledger, address, slot) ?? CLOSED_ACCOUNT)];
    },
  };
}

/** Tells of each account that was changed in a bank, and is an owner's after it. */
export function programTopic(ledger: Ledger, owner: string): Topic {
  let hasBegun = false;
  return {
    begin: () => {
      hasBegun = true;
    },
    news: (slot) => {
      if (!hasBegun) return [];
      return ledger.addresses.flatMap((address) => {
        const account = accountAt(ledger, address, slot);
        if (account === undefined || ledger.changedAt(address, slot) !== slot || ownerOf(account) !== owner) return [];
        return [`{"pubkey":"${address}","account":${jsonOf(account)}}`];
      });
    },
  };
}
