import {
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../shared/domain/well-known-addresses.ts';
import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { type AmountScale, ByteReader } from '../../transactions/index.ts';
import type { Account } from '../bank/svm-account.ts';
import {
  type ParsedAccountData,
  parseLoader,
  parseLookupTable,
  parseNonce,
  parseStake,
} from './parse-native-accounts.ts';
import { parseTokenAccount } from './parse-token-accounts.ts';

/** Account data as `jsonParsed` encodes it. */
export interface ParsedAccount {
  readonly program: string;
  readonly parsed: ParsedAccountData;
  readonly space: number;
}

interface AccountParser {
  /** Name of the owner in a node's answers. */
  readonly program: string;
  readonly parse: (
    account: Account,
    address: string,
    scale: (mint: string) => AmountScale | undefined,
  ) => ParsedAccountData | undefined;
}

const PARSERS: Readonly<Record<string, AccountParser>> = {
  [SYSTEM_PROGRAM]: { program: 'nonce', parse: parseNonce },
  [TOKEN_PROGRAM]: { program: 'spl-token', parse: (account, _, scale) => parseTokenAccount(account, scale) },
  [TOKEN_2022_PROGRAM]: { program: 'spl-token-2022', parse: (account, _, scale) => parseTokenAccount(account, scale) },
  Sysvar1111111111111111111111111111111111111: {
    program: 'sysvar',
    parse: ({ data }, address) => parseSysvar(address, new ByteReader(data)),
  },
  [LOOKUP_TABLE_PROGRAM]: { program: 'address-lookup-table', parse: parseLookupTable },
  [UPGRADEABLE_LOADER]: { program: 'bpf-upgradeable-loader', parse: parseLoader },
  [STAKE_PROGRAM]: { program: 'stake', parse: parseStake },
};

/**
 * Parses account data for `jsonParsed`; undefined when the owner is unknown or the data is not in its format: a node
 * answers base64 then. `scale` returns how amounts of a mint are displayed.
 */
export function parseAccountData(
  address: string,
  account: Account,
  scale: (mint: string) => AmountScale | undefined,
): ParsedAccount | undefined {
  const owner = PARSERS[account.owner];
  try {
    const parsed = owner?.parse(account, address, scale);
    return owner && parsed && { program: owner.program, parsed, space: account.data.length };
  } catch (error) {
    if (error instanceof RangeError) return undefined; // shorter than its layout
    throw error;
  }
}

/** Sysvars that a node parses, by address. */
const SYSVARS = new Map(
  readTables(new URL('data/sysvars.tsv', import.meta.url), 'sysvar').map(
    ({ head: [address = '', type = '', form], rows }) => [address, { type, isList: form === 'list', members: rows }],
  ),
);

const READERS: Readonly<Record<string, (reader: ByteReader) => unknown>> = {
  u64: (reader) => reader.u64(),
  i64: (reader) => reader.i64(),
  text: (reader) => `${reader.u64()}`,
  bool: (reader) => reader.u8() === 1,
  pubkey: (reader) => reader.pubkey(),
};

function parseSysvar(address: string, reader: ByteReader): ParsedAccountData | undefined {
  const sysvar = SYSVARS.get(address);
  if (sysvar === undefined) return undefined;
  const { type, isList, members } = sysvar;
  const read = (): object => readMembers(reader, members);
  return { type, info: isList ? reader.array(Number(reader.u64()), read) : read() };
}

/** Reads members; `a.b` is the member `b` of the object `a`. */
function readMembers(reader: ByteReader, members: readonly (readonly string[])[]): object {
  const info: Record<string, unknown> = {};
  for (const [path = '', kind = ''] of members) {
    const [name = '', inner] = path.split('.');
    const value = READERS[kind]?.(reader);
    info[name] = inner === undefined ? value : Object.assign(info[name] ?? {}, { [inner]: value });
  }
  return info;
}
