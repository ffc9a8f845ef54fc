import { integer, list, object, type Recorded, text } from '../codec/recorded.ts';
import type { MessageHeader } from './wire-message.ts';

/** An account that a transaction names, and what it may do with it. */
export interface AccountKey {
  readonly address: string;
  readonly signer: boolean;
  readonly writable: boolean;
  /** Whether the message spells the address or takes it from a lookup table. */
  readonly source: 'transaction' | 'lookupTable';
}

/** The address at a place in the list of accounts; null when there is none. */
export const addressAt = (accounts: readonly AccountKey[], place: unknown): string | null =>
  accounts[integer(place) ?? -1]?.address ?? null;

/** Accounts of a message in JSON: `jsonParsed` spells all of them out, `json` names the loaded ones in `meta`. */
export function jsonAccounts({ accountKeys, header }: Recorded, loaded: Recorded): AccountKey[] {
  const keys = list(accountKeys);
  if (keys.every((key) => typeof key === 'string')) return wireAccounts(keys, headerOf(header), loaded);
  return keys.map(object).map(({ pubkey, signer, writable, source }) => ({
    address: text(pubkey) ?? '',
    signer: signer === true,
    writable: writable === true,
    source: source === 'lookupTable' ? source : 'transaction',
  }));
}

/** Accounts of a message in bytes or in plain JSON: its own ones, then the writable and the readonly loaded ones. */
export function wireAccounts(keys: readonly string[], header: MessageHeader, loaded: Recorded): AccountKey[] {
  const firstUnsigned = header.numRequiredSignatures;
  const firstReadonlySigned = firstUnsigned - header.numReadonlySignedAccounts;
  const firstReadonly = keys.length - header.numReadonlyUnsignedAccounts;
  const own = keys.map((address, place): AccountKey => {
    const signer = place < firstUnsigned;
    return { address, signer, writable: place < (signer ? firstReadonlySigned : firstReadonly), source: 'transaction' };
  });
  const fromTables = (name: 'writable' | 'readonly'): AccountKey[] =>
    list(loaded[name]).map((address) => ({
      address: text(address) ?? '',
      signer: false,
      writable: name === 'writable',
      source: 'lookupTable',
    }));
  return [...own, ...fromTables('writable'), ...fromTables('readonly')];
}

function headerOf(recorded: unknown): MessageHeader {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = object(recorded);
  return {
    numRequiredSignatures: integer(numRequiredSignatures) ?? 1,
    numReadonlySignedAccounts: integer(numReadonlySignedAccounts) ?? 0,
    numReadonlyUnsignedAccounts: integer(numReadonlyUnsignedAccounts) ?? 0,
  };
}
