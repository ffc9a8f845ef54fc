import bs58 from 'bs58';
import { NATIVE_LOADER } from '../../shared/domain/well-known-addresses.ts';
import { wrapInZstdFrame } from '../../shared/domain/zstd-frame.ts';
import type { AmountScale } from '../../transactions/index.ts';
import { type Account, RENT_EPOCH } from '../bank/svm-account.ts';
import { parseAccountData } from './parse-account-data.ts';
import { sortKeys } from './sort-keys.ts';

/** Account encodings, in the order in which a node lists them when it refuses another. */
export const ACCOUNT_ENCODINGS = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'] as const;
export type AccountEncoding = (typeof ACCOUNT_ENCODINGS)[number];

export interface DataSlice {
  readonly offset: number;
  readonly length: number;
}

/** Encoding of accounts that a caller requests. */
export interface AccountView {
  readonly encoding: AccountEncoding;
  readonly dataSlice?: DataSlice | undefined;
  /** Returns how amounts of a mint are displayed at the bank that is read. */
  readonly scale: (mint: string) => AmountScale | undefined;
}

/** JSON of an account, its members in the order of notifications. */
export interface UiAccount {
  readonly lamports: bigint;
  readonly data: unknown;
  readonly owner: string;
  readonly executable: boolean;
  readonly rentEpoch: bigint;
  readonly space: number;
}

/** Longest data that is encoded as base58. */
export const MAX_BASE58_BYTES = 128;

/** Owners of accounts that no transaction creates: their rent epoch is 0. */
const ZERO_RENT_EPOCH_OWNERS: ReadonlySet<string> = new Set([
  'Sysvar1111111111111111111111111111111111111',
  NATIVE_LOADER,
]);

export function encodeUiAccount(address: string, account: Account, view: AccountView): UiAccount {
  const { lamports, owner, executable, data } = account;
  return {
    lamports,
    data: encodeData(address, account, view),
    owner,
    executable,
    rentEpoch: lamports === 0n || ZERO_RENT_EPOCH_OWNERS.has(owner) ? 0n : RENT_EPOCH,
    space: data.length,
  };
}

function encodeData(address: string, account: Account, { encoding, dataSlice, scale }: AccountView): unknown {
  const bytes = sliceData(account.data, dataSlice);
  switch (encoding) {
    case 'binary':
      return encodeBase58(bytes);
    case 'base58':
      return [encodeBase58(bytes), 'base58'];
    case 'base64':
      return [encodeBase64(bytes), 'base64'];
    case 'base64+zstd':
      return [encodeBase64(wrapInZstdFrame(bytes)), 'base64+zstd'];
    case 'jsonParsed': {
      const known = parseAccountData(address, account, scale);
      if (known === undefined) return [encodeBase64(bytes), 'base64'];
      return { program: known.program, parsed: sortKeys(known.parsed), space: known.space };
    }
  }
}

/** Returns the requested range of the data, empty past its end. */
export function sliceData(data: Uint8Array, slice: DataSlice | undefined): Uint8Array {
  return slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);
}

const encodeBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const encodeBase58 = (bytes: Uint8Array): string =>
  bytes.length > MAX_BASE58_BYTES ? 'error: data too large for bs58 encoding' : bs58.encode(bytes);
