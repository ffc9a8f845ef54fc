import type { Slot } from '../../../../src/domain/slot.ts';
import type { EncodedAccount } from '../../../../src/upstream/reads/encoded-accounts.ts';
import { addressFromByte, mintFixture, tokenAccountFixture } from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';

/** Owners of all token accounts of the ledger. */
export const OWNERS = [addressFromByte(7), addressFromByte(9)] as const;

const MINT = addressFromByte(1);

/**
 * Returns an account after a slot: its balance determines the amount and the owner. A third of the changes transfers
 * the account.
 */
export function accountAt(ledger: SimulatedLedger, address: string, slot: Slot): EncodedAccount | undefined {
  const lamports = ledger.balance(address, slot);
  if (lamports === 0) return undefined;
  return { ...tokenAccountFixture(OWNERS[lamports % 3 === 0 ? 1 : 0], lamports, MINT), lamports: BigInt(lamports) };
}

/** Returns all accounts of a node after a slot. */
export function accountsAt(ledger: SimulatedLedger, slot: Slot): ReadonlyMap<string, EncodedAccount> {
  const accounts = new Map<string, EncodedAccount>([[MINT, mintFixture(0, 100)]]);
  for (const address of ledger.addresses) {
    const account = accountAt(ledger, address, slot);
    if (account !== undefined) accounts.set(address, account);
  }
  return accounts;
}
