import bs58 from 'bs58';
import type { Account } from '../bank/svm-account.ts';
import { readTokenAccount } from '../bank/token-state.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { readConfig, readList, readString, readU64 } from './json-rpc-params.ts';

/** Returns whether an account matches. */
export type ProgramAccountFilter = (account: Account) => boolean;

const MAX_FILTERS = 4;
const MAX_COMPARED_BYTES = 128;

/** Parses the `filters` of getProgramAccounts and programSubscribe, all of which must match. */
export function parseAccountFilters(value: unknown): ProgramAccountFilter {
  if (value === undefined || value === null) return () => true;
  const items = readList(value, Number.POSITIVE_INFINITY);
  if (items.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const filters = items.map(parseAccountFilter);
  return (account) => filters.every((matches) => matches(account));
}

function parseAccountFilter(value: unknown): ProgramAccountFilter {
  if (value === 'tokenAccountState') return (account) => readTokenAccount(account) !== undefined;
  const { dataSize, memcmp } = readConfig(value);
  if (dataSize !== undefined) {
    const size = readU64(dataSize);
    return ({ data }) => data.length === size;
  }
  if (memcmp !== undefined) return parseMemcmp(memcmp);
  throw invalidParams('Invalid params: invalid value: map, expected map with a single key.');
}

function parseMemcmp(value: unknown): ProgramAccountFilter {
  const { offset, bytes, encoding } = readConfig(value);
  const start = readU64(offset);
  const wanted = encoding === 'base64' ? Buffer.from(readString(bytes), 'base64') : decodeBase58(readString(bytes));
  if (wanted.length > MAX_COMPARED_BYTES) {
    throw invalidParams('Invalid param: encoded binary data should be less than 129 bytes');
  }
  return ({ data }) => Buffer.compare(data.subarray(start, start + wanted.length), wanted) === 0;
}

function decodeBase58(text: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(text.slice(0, 2 * MAX_COMPARED_BYTES));
  if (bytes === undefined) throw invalidParams('Invalid param: invalid base58 encoding');
  return bytes;
}
