import type { Slot } from '../../../../src/domain/slot.ts';
import type { StoredAccount } from '../../../../src/upstream/reads/stored-accounts.ts';
import { holding, madeUp, minting } from '../../../support/stored-tokens.ts';
import type { Ledger } from './ledger.ts';

/** All accounts of the ledger hold tokens for one of them. */
export const OWNERS = [madeUp(7), madeUp(9)] as const;

const MINT = madeUp(1);

/** An account after a slot: its balance says how much it holds, and for whom. A third of all changes gives one away. */
export function accountAt(ledger: Ledger, address: string, slot: Slot): StoredAccount | undefined {
  const lamports = ledger.balance(address, slot);
  if (lamports === 0) return undefined;
  return { ...holding(OWNERS[lamports % 3 === 0 ? 1 : 0], lamports, MINT), lamports: BigInt(lamports) };
}

/** All that a node has after a slot. */
export function accountsAt(ledger: Ledger, slot: Slot): ReadonlyMap<string, StoredAccount> {
  const accounts = new Map<string, StoredAccount>([[MINT, minting(0, 100)]]);
  for (const address of ledger.addresses) {
    const account = accountAt(ledger, address, slot);
    if (account !== undefined) accounts.set(address, account);
  }
  return accounts;
}
