import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { FORMATS, fieldsReader } from '../codec/fields.ts';
import type { JsonObject } from '../codec/json-fields.ts';
import { TOKEN_ACCOUNT_STATES } from './token-account-states.ts';

/** A feature that a Token-2022 mint or account has enabled; name, members and values as in a node's jsonParsed. */
export interface TokenExtension {
  readonly extension: string;
  /** Absent where its presence is the setting, or where its value can't be decoded. */
  readonly state?: JsonObject;
}

/** The values that more is done with than they are shown. */
export interface ExtensionStates {
  readonly tokenMetadata: {
    readonly updateAuthority: string | null;
    readonly mint: string;
    readonly name: string;
    readonly symbol: string;
    readonly uri: string;
    readonly additionalMetadata: readonly (readonly [name: string, value: string])[];
  };
  readonly tokenGroupMember: { readonly mint: string; readonly group: string };
  readonly interestBearingConfig: {
    readonly initializationTimestamp: bigint;
    readonly preUpdateAverageRate: number;
    readonly lastUpdateTimestamp: bigint;
    readonly currentRate: number;
  };
  readonly scaledUiAmountConfig: {
    readonly multiplier: string;
    readonly newMultiplier: string;
    readonly newMultiplierEffectiveTimestamp: bigint;
  };
}

/** Returns the value of an extension; undefined without it. Its row in the table of extensions has these members. */
export const extensionState = <Name extends keyof ExtensionStates>(
  extensions: readonly TokenExtension[],
  name: Name,
): ExtensionStates[Name] | undefined =>
  extensions.find(({ extension }) => extension === name)?.state as ExtensionStates[Name] | undefined; // by the table

const EXTENSION_FORMATS = {
  ...FORMATS,
  transferFee: fieldsReader('epoch:u64 maximumFee:u64 transferFeeBasisPoints:u16', FORMATS),
  // an unknown number counts as uninitialized, as in nodes
  accountState: (reader: ByteReader) => TOKEN_ACCOUNT_STATES[reader.u8()] ?? 'uninitialized',
};

const EXTENSIONS = readTables(new URL('data/extensions.tsv', import.meta.url), 'extensions')
  .flatMap(({ rows }) => rows)
  .map(([name = '', fields]) => ({
    name,
    read: fields === undefined ? null : fieldsReader(fields, EXTENSION_FORMATS),
  }));

/** Names of the extensions by their number in the program. */
export const EXTENSION_TYPES: readonly string[] = EXTENSIONS.map(({ name }) => name);

const UNPARSEABLE: TokenExtension = { extension: 'unparseableExtension' };
const TLV_HEADER_BYTES = 4;

/**
 * Decodes the extensions after the base of a mint or account, in stored order: type, length, value. An extension whose
 * value can't be decoded is listed as unparseable. A list that is cut off yields the extensions before the cut.
 */
export function decodeExtensions(tlvBytes: Uint8Array): readonly TokenExtension[] {
  const extensions: TokenExtension[] = [];
  tryDecode(tlvBytes, (reader) => {
    while (reader.remaining >= TLV_HEADER_BYTES) {
      const number = reader.u16();
      if (number === 0) return; // uninitialized: the bytes after it are unused
      extensions.push(decodeExtension(number, reader.bytes(reader.u16())));
    }
  });
  return extensions;
}

function decodeExtension(number: number, value: Uint8Array): TokenExtension {
  const { name = '', read = undefined } = EXTENSIONS[number] ?? {};
  if (read === undefined) return UNPARSEABLE;
  if (read === null) return { extension: name };
  const state = tryDecode(value, (reader) => {
    const members = read(reader);
    if (reader.remaining > 0) throw new RangeError(`${reader.remaining} bytes too many`);
    return members;
  });
  return state === undefined ? UNPARSEABLE : { extension: name, state };
}
