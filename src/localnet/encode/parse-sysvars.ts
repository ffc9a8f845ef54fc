import { readTables } from '../../shared/runtime/files/read-tables.ts';
import type { ByteReader } from '../../transactions/index.ts';
import type { ParsedAccountData } from './parse-native-accounts.ts';

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

export function parseSysvar(address: string, reader: ByteReader): ParsedAccountData | undefined {
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
