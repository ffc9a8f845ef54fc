import bs58 from 'bs58';
import type { Account } from '../bank/account.ts';
import { readTokenAccount } from '../bank/token-state.ts';
import { invalidParams } from '../encode/node-error.ts';
import { config, list, string, u64 } from './params.ts';

/** Whether an account belongs to the answer. */
export type AccountFilter = (account: Account) => boolean;

const MAX_FILTERS = 4;
const MAX_COMPARED_BYTES = 128;

/** Reads the `filters` of getProgramAccounts and programSubscribe: all of them must hold. */
export function accountFilters(value: unknown): AccountFilter {
  if (value === undefined || value === null) return () => true;
  const items = list(value, Number.POSITIVE_INFINITY);
  if (items.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const filters = items.map(accountFilter);
  return (account) => filters.every((holds) => holds(account));
}

function accountFilter(value: unknown): AccountFilter {
  if (value === 'tokenAccountState') return (account) => readTokenAccount(account) !== undefined;
  const { dataSize, memcmp } = config(value);
  if (dataSize !== undefined) {
    const size = u64(dataSize);
    return ({ data }) => data.length === size;
  }
  if (memcmp !== undefined) return comparison(memcmp);
  throw invalidParams('Invalid params: invalid value: map, expected map with a single key.');
}

function comparison(value: unknown): AccountFilter {
  const { offset, bytes, encoding } = config(value);
  const start = u64(offset);
  const wanted = encoding === 'base64' ? Buffer.from(string(bytes), 'base64') : base58(string(bytes));
  if (wanted.length > MAX_COMPARED_BYTES) {
    throw invalidParams('Invalid param: encoded binary data should be less than 129 bytes');
  }
  return ({ data }) => Buffer.compare(data.subarray(start, start + wanted.length), wanted) === 0;
}

function base58(text: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(text.slice(0, 2 * MAX_COMPARED_BYTES));
  if (bytes === undefined) throw invalidParams('Invalid param: invalid base58 encoding');
  return bytes;
}
