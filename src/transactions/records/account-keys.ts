import { asArray, asInteger, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import type { MessageHeader } from './versioned-transaction.ts';

/** An account that a transaction names, with its permissions. */
export interface AccountKey {
  readonly address: string;
  readonly signer: boolean;
  readonly writable: boolean;
  /** Source of the address: the message or a lookup table. */
  readonly source: 'transaction' | 'lookupTable';
}

/** Returns the address at an index of the account list; null if there is none. */
export const accountAddressAt = (accounts: readonly AccountKey[], index: unknown): string | null =>
  accounts[asInteger(index) ?? -1]?.address ?? null;

/** Returns the accounts of a JSON message: `jsonParsed` lists all of them, `json` has the loaded ones in `meta`. */
export function jsonAccountKeys({ accountKeys, header }: JsonObject, loadedAddresses: JsonObject): AccountKey[] {
  const keys = asArray(accountKeys);
  if (keys.every((key) => typeof key === 'string'))
    return compiledAccountKeys(keys, readMessageHeader(header), loadedAddresses);
  return keys.map(asObject).map(({ pubkey, signer, writable, source }, index) => ({
    address: asString(pubkey) ?? '',
    signer: signer === true || index === 0, // which pays the fee
    writable: writable === true,
    source: source === 'lookupTable' ? source : 'transaction',
  }));
}

/** Returns the accounts of a compiled message: static ones, then writable and readonly loaded ones. */
export function compiledAccountKeys(
  keys: readonly string[],
  header: MessageHeader,
  loadedAddresses: JsonObject,
): AccountKey[] {
  const firstUnsigned = Math.max(1, header.numRequiredSignatures); // the first one pays the fee
  const firstReadonlySigned = firstUnsigned - header.numReadonlySignedAccounts;
  const firstReadonly = keys.length - header.numReadonlyUnsignedAccounts;
  const staticKeys = keys.map((address, index): AccountKey => {
    const signer = index < firstUnsigned;
    return { address, signer, writable: index < (signer ? firstReadonlySigned : firstReadonly), source: 'transaction' };
  });
  const lookupTableKeys = (name: 'writable' | 'readonly'): AccountKey[] =>
    asArray(loadedAddresses[name]).map((address) => ({
      address: asString(address) ?? '',
      signer: false,
      writable: name === 'writable',
      source: 'lookupTable',
    }));
  const loaded = [...lookupTableKeys('writable'), ...lookupTableKeys('readonly')];
  return [...staticKeys, ...loaded.filter(({ address }) => !keys.includes(address))]; // some nodes list them in both places
}

function readMessageHeader(recorded: unknown): MessageHeader {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = asObject(recorded);
  return {
    numRequiredSignatures: asInteger(numRequiredSignatures) ?? 1,
    numReadonlySignedAccounts: asInteger(numReadonlySignedAccounts) ?? 0,
    numReadonlyUnsignedAccounts: asInteger(numReadonlyUnsignedAccounts) ?? 0,
  };
}
