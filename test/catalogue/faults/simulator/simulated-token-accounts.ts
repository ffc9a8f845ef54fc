import type { EncodedAccount } from '../../../../src/gateway/upstream/reads/encoded-accounts.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { findMetadataAddress } from '../../../../src/transactions/accounts/metaplex-metadata-account.ts';
import {
  addressFromByte,
  CLOSED_ACCOUNT,
  metadataFixture,
  mintFixture,
  tokenAccountFixture,
} from '../../../support/token-account-fixtures.ts';
import type { SimulatedLedger } from './simulated-ledger.ts';

/** Owners of all token accounts of the ledger. */
export const OWNERS = [addressFromByte(7), addressFromByte(9)] as const;

const MINT = addressFromByte(1);

/** The Metaplex account of the mint of all token accounts: its balance determines the name. */
export const METADATA = findMetadataAddress(MINT);

/** Returns the name of the mint after a slot; null when it has none. */
export function nameAt(ledger: SimulatedLedger, slot: Slot): string | null {
  const lamports = ledger.balance(METADATA, slot);
  return lamports === 0 ? null : `Name ${lamports}`;
}

/**
 * Returns an account after a slot. The balance of a token account determines its amount and owner: a third of the
 * changes transfers the account.
 */
export function accountAt(ledger: SimulatedLedger, address: string, slot: Slot): EncodedAccount | undefined {
  const lamports = ledger.balance(address, slot);
  if (lamports === 0) return undefined;
  if (address === METADATA) return metadataFixture(MINT, nameAt(ledger, slot) ?? '', '');
  if (OWNERS.some((owner) => owner === address)) return { ...CLOSED_ACCOUNT, lamports: BigInt(lamports) };
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
