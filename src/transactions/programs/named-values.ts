import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { FORMATS, fieldsReader } from '../codec/fields.ts';
import type { JsonObject } from '../codec/json-fields.ts';
import { isAllZero } from '../codec/spl-pod.ts';

/** A call of a program, with its data in base58; null if only its decoded form is known. */
export interface ProgramCall {
  readonly programId: string;
  readonly data: string | null;
  readonly accounts: readonly string[];
}

/** Bytes that are passed over. */
const SKIPS = Object.fromEntries(
  [1, 2, 3, 8, 9, 10, 73, 82, 116, 172].map(
    (length) => [length, (reader: ByteReader) => reader.bytes(length)] as const,
  ),
);

/** Returns the address that an enum of Metaplex Core holds in one of its variants. */
const addressIn =
  (variant: number) =>
  (reader: ByteReader): string | undefined =>
    reader.u8() === variant ? reader.pubkey() : undefined;

/** Reads past the texts, royalties, creators, collection and uses of Token Metadata's `DataV2`. */
function skipMetadata(reader: ByteReader): void {
  for (const read of [FORMATS.borsh, FORMATS.borsh, FORMATS.borsh, FORMATS.u16]) read(reader);
  reader.option(() => reader.vec(() => reader.bytes(34)));
  reader.option(() => reader.bytes(33));
  reader.option(() => reader.bytes(17));
}

/** Reads the key that an instruction adds to a list; undefined where the flag behind it and `skipped` bytes says that it goes. */
const addedKey =
  (skipped: number) =>
  (reader: ByteReader): string | undefined => {
    const key = reader.pubkey();
    reader.bytes(skipped);
    return reader.bool() ? key : undefined;
  };

/** Reads past the accounts that a call of the ZK Compressed Token program spends. */
const skipInputs = (reader: ByteReader): unknown =>
  reader.vec(() => {
    reader.u64();
    reader.option(() => reader.u8());
    reader.bytes(9);
    reader.option(() => reader.u64());
    reader.option(refuseExtensions);
  });

/** Reads who owns the accounts that it makes. */
const outputOwners = (reader: ByteReader): readonly string[] =>
  reader.vec(() => {
    const owner = reader.pubkey();
    reader.u64();
    reader.option(() => reader.u64());
    reader.u8();
    reader.option(refuseExtensions);
    return owner;
  });

function refuseExtensions(): never {
  throw new RangeError('extensions have no known length');
}

/** Bytes of each change of a Squads multisig before those to whom it gives a right. */
const SQUADS_CHANGES = [0, 32, 2, 4, 74, 32, 0];

/** Reads who gets a right by changes of a Squads multisig; `limitEnd` bytes stand behind a spending limit. */
const receivers =
  (limitEnd: number) =>
  (reader: ByteReader): readonly (string | null)[] =>
    reader.vec(() => receiversIn(reader, limitEnd)).flat();

function receiversIn(reader: ByteReader, limitEnd: number): readonly (string | null)[] {
  const change = reader.u8();
  const skipped = SQUADS_CHANGES[change];
  if (skipped === undefined) throw new RangeError('no such change');
  reader.bytes(skipped);
  const keys = (): readonly string[] => reader.vec(() => reader.pubkey());
  if (change === 0) {
    const member = reader.pubkey();
    reader.u8(); // its permissions
    return [member];
  }
  if (change === 4) {
    const members = keys();
    keys(); // to which they may send
    reader.bytes(limitEnd);
    return members;
  }
  return change === 6 ? [reader.option(() => reader.pubkey())] : []; // who gets the rent
}

/** Returns the sign of an i128. */
function signIn(reader: ByteReader): -1 | 0 | 1 {
  const bytes = reader.bytes(16);
  if (isAllZero(bytes)) return 0;
  return (bytes.at(-1) ?? 0) >= 0x80 ? -1 : 1;
}

const VALUE_FORMATS = {
  ...FORMATS,
  ...SKIPS,
  'u8?': (reader: ByteReader) => reader.option(() => reader.u8()),
  'u64?': (reader: ByteReader) => reader.option(() => reader.u64()),
  '32?': (reader: ByteReader) => reader.option(() => reader.bytes(32)),
  'borsh?': (reader: ByteReader) => reader.option(() => reader.borshString()),
  'metadata?': (reader: ByteReader) => reader.option(() => skipMetadata(reader)),
  sign: signIn,
  '3?': (reader: ByteReader) => reader.option(() => reader.bytes(3)),
  members: (reader: ByteReader) => reader.vec(() => reader.pubkey()),
  // each with a share in two bytes
  shareholders: (reader: ByteReader) => reader.vec(() => [reader.pubkey(), reader.u16()]).map(([key]) => key),
  added: addedKey(0),
  addedBuilder: addedKey(2),
  'proof?': (reader: ByteReader) => reader.option(() => reader.bytes(128)),
  'delegation?': (reader: ByteReader) => reader.option(() => [reader.pubkey(), reader.option(() => reader.u8())]),
  inputs: skipInputs,
  outputs: outputOwners,
  configActions: receivers(0),
  settingsActions: receivers(8),
  authority: addressIn(3),
  'authority?': (reader: ByteReader) => reader.option(() => addressIn(3)(reader)) ?? undefined,
  'updateAuthority?': (reader: ByteReader) => reader.option(() => addressIn(1)(reader)) ?? undefined,
};

const MAX_DATA_LENGTH = maxBase58Length(4096);
const NOTHING: JsonObject = {};

/** Returns the reader of what an instruction's data names; nothing where there are more accounts than `mostAccounts`. */
export function valuesReader(fields: string, mostAccounts = ''): (call: ProgramCall) => JsonObject {
  const read = fieldsReader(fields, VALUE_FORMATS);
  const most = mostAccounts === '' ? Number.POSITIVE_INFINITY : Number(mostAccounts);
  return ({ data, accounts }) => {
    const isRead = data !== null && data.length <= MAX_DATA_LENGTH && accounts.length <= most;
    const bytes = isRead ? decodeBase58(data) : undefined;
    return (bytes && tryDecode(bytes, read)) ?? NOTHING;
  };
}
