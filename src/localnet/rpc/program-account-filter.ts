import bs58 from 'bs58';
import { type Memcmp, matchesMemcmp } from '../bank/account-index.ts';
import type { Account } from '../bank/svm-account.ts';
import { readTokenAccount } from '../bank/token-state.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { readConfig, readList, readString, readU64 } from './json-rpc-params.ts';
import { decodeBase64 } from './transaction-bytes.ts';

/** Filters of a program's accounts, all of which must match. */
export interface ProgramAccountFilters {
  /** Those that compare bytes: an index may have the accounts that match one. */
  readonly memcmps: readonly Memcmp[];
  readonly matches: (account: Account) => boolean;
}

/** One filter: bytes, or a condition on the account. */
type ProgramAccountFilter = Memcmp | ((account: Account) => boolean);

const MAX_FILTERS = 4;
const MAX_COMPARED_BYTES = 128;

export function parseAccountFilters(value: unknown): ProgramAccountFilters {
  const items = value === undefined || value === null ? [] : readList(value, Number.POSITIVE_INFINITY);
  if (items.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const filters = items.map(parseAccountFilter);
  return {
    memcmps: filters.filter((filter) => typeof filter !== 'function'),
    matches: (account) =>
      filters.every((filter) => (typeof filter === 'function' ? filter(account) : matchesMemcmp(account.data, filter))),
  };
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

function parseMemcmp(value: unknown): Memcmp {
  const { offset: start, bytes: encoded, encoding } = readConfig(value);
  const offset = readU64(start);
  const bytes = Array.isArray(encoded) ? Uint8Array.from(encoded, readU8) : decodeText(readString(encoded), encoding);
  if (bytes === undefined) throw invalidParams(`Invalid param: invalid ${encoding ?? 'base58'} encoding`);
  if (bytes.length > MAX_COMPARED_BYTES) throw invalidParams('Invalid param: DataTooLarge');
  return { offset, bytes };
}

const decodeText = (text: string, encoding: unknown): Uint8Array | undefined =>
  encoding === 'base64' ? decodeBase64(text) : bs58.decodeUnsafe(text.slice(0, 2 * MAX_COMPARED_BYTES));

/** Reads a byte of those that Rust's client sends as a list. */
function readU8(value: unknown): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256) return Number(value);
  throw invalidParams('Invalid params: data did not match any variant of untagged enum DataType.');
}
