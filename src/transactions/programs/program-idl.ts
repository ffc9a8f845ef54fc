import { unzipSync } from 'node:zlib';
import { addressBytes } from '../accounts/address-bytes.ts';
import { findAddressWithSeed, findProgramAddress } from '../accounts/program-derived-address.ts';
import { asArray, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { anchorDiscriminator } from './program-instruction.ts';

/** https://github.com/solana-program/program-metadata */
const METADATA_PROGRAM = 'ProgM6JCCvbYkfKqJYHePx4xxSUSqJp7rh8Lyv7nk7S';

/** Where the author of a program may have put its IDL, and which program then owns the account. */
export interface IdlPlace {
  readonly address: string;
  readonly owner: string;
  /** Bytes before the compressed text, and the place of its length among them. */
  readonly headerBytes: number;
  readonly lengthAt: number;
}

/** An account that may hold an IDL. */
export interface IdlAccount {
  readonly data: Uint8Array;
  readonly place: IdlPlace;
}

/** `header.rs`: the seed is padded to 16 bytes. */
const METADATA_SEED = Buffer.from('idl'.padEnd(16, '\0'));

/**
 * Returns both places of a program's IDL: the account of Anchor's IDL instructions (discriminator, authority, length), and
 * that of the Program Metadata program (`header.rs`). https://www.anchor-lang.com/docs/basics/idl
 */
export function idlPlacesOf(program: string): readonly IdlPlace[] {
  const base = findProgramAddress(program, []);
  const metadata = findProgramAddress(METADATA_PROGRAM, [addressBytes(program), METADATA_SEED]);
  return [
    { address: findAddressWithSeed(base, 'anchor:idl', program), owner: program, headerBytes: 44, lengthAt: 40 },
    { address: metadata, owner: METADATA_PROGRAM, headerBytes: 96, lengthAt: 87 },
  ];
}

/** The most bytes of a compressed IDL, and of its text. */
export const MAX_IDL_BYTES = 64 << 10;
const MAX_TEXT_BYTES = 1 << 20;

/** The most instructions of an IDL that are read, and the most characters of a name. */
const MAX_INSTRUCTIONS = 512;
const MAX_NAME_LENGTH = 64;

/**
 * Reads the names of instructions in an IDL's account, by their discriminators in hex. Throws for an account that holds
 * no IDL, or more than {@link MAX_IDL_BYTES} or its text's bound. Costs tens of milliseconds at most: call it in a thread.
 */
export function readIdlNames({ data: account, place }: IdlAccount): ReadonlyMap<string, string> {
  const { headerBytes, lengthAt } = place;
  const view = new DataView(account.buffer, account.byteOffset, account.byteLength);
  const length = view.getUint32(lengthAt, true);
  if (length > MAX_IDL_BYTES || headerBytes + length > account.length) throw new RangeError('too long for an IDL');
  const text = unzipSync(account.subarray(headerBytes, headerBytes + length), { maxOutputLength: MAX_TEXT_BYTES });
  const idl = asObject(JSON.parse(text.toString()));
  const listed = asArray(idl['instructions'] ?? asObject(idl['program'])['instructions']);
  const named = listed.slice(0, MAX_INSTRUCTIONS).map((value) => {
    const instruction = asObject(value);
    const name = asString(instruction['name'])?.slice(0, MAX_NAME_LENGTH) ?? '';
    return [discriminatorIn(instruction, name), name] as const;
  });
  return new Map(named.filter(([discriminator, name]) => discriminator !== null && name !== '') as [string, string][]);
}

/** Returns what an instruction's data begins with: eight bytes, as Anchor writes or derives them, or one byte (Shank). */
function discriminatorIn({ discriminator, discriminant }: JsonObject, name: string): string | null {
  const [bytes, { value }] = [asArray(discriminator).map(Number), asObject(discriminant)];
  if (bytes.length > 0) return bytes.length === 8 ? Buffer.from(bytes).toString('hex') : null;
  if (typeof value === 'number') return Buffer.of(value).toString('hex');
  const snake = name.replace(/(?<=[a-z0-9])[A-Z]/g, (capital) => `_${capital}`).toLowerCase();
  return anchorDiscriminator(snake);
}
