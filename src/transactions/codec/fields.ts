import type { ByteReader } from './byte-reader.ts';
import { formatDouble } from './format-decimal.ts';
import type { JsonObject } from './json-fields.ts';
import { isAllZero, readOptionalPubkey, readPodBool } from './spl-pod.ts';

type Formats<Input extends readonly unknown[]> = Readonly<Record<string, (...input: Input) => unknown>>;

const base64 =
  (length: number) =>
  (reader: ByteReader): string =>
    encodeBase64(reader.bytes(length));

const encodeBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** Formats of fields in the data of accounts and instructions, little-endian. `?`: left out where absent. */
export const FORMATS = {
  u8: (reader) => reader.u8(),
  u16: (reader) => reader.u16(),
  i16: (reader) => reader.i16(),
  u32: (reader) => reader.u32(),
  u64: (reader) => reader.u64(),
  i64: (reader) => reader.i64(),
  double: (reader) => formatDouble(reader.f64()), // text keeps its digits
  flag: (reader) => reader.u8() === 1,
  bool: readPodBool,
  key: (reader) => reader.pubkey(),
  'key?': (reader) => reader.option(() => reader.pubkey()) ?? undefined,
  'key|null': (reader) => reader.option(() => reader.pubkey()),
  'pod?': (reader) => readOptionalPubkey(reader) ?? undefined,
  'pod|null': readOptionalPubkey,
  keys: (reader) => reader.untilEnd(() => reader.pubkey()),
  string: (reader) => reader.bincodeString(),
  borsh: (reader) => reader.borshString(),
  pairs: (reader) => reader.vec(() => [reader.borshString(), reader.borshString()] as const),
  text: (reader) => reader.remainingText(),
  elgamalKey: base64(32),
  'elgamalKey|null': (reader) => {
    const bytes = reader.bytes(32);
    return isAllZero(bytes) ? null : encodeBase64(bytes);
  },
  elgamal: base64(64),
  aes: base64(36),
} as const satisfies Formats<[ByteReader]>;

/**
 * Returns the reader of fields, each `name:format`. What is named `-` is read and left out; the members of what is named
 * `...` stand in the place of it. Throws for a format that there is not.
 */
export function fieldsReader<Input extends readonly unknown[]>(
  fields: string,
  formats: Formats<Input>,
): (...input: Input) => JsonObject {
  const readers = fields.split(' ').map((field) => {
    const [name = '', format = ''] = field.split(':');
    const read = formats[format];
    if (read === undefined) throw new Error(`no format: ${field}`);
    return [name, read] as const;
  });
  return (...input) => {
    const values: Record<string, unknown> = {};
    for (const [name, read] of readers) {
      const value = read(...input);
      if (name === '...') Object.assign(values, value);
      else if (name !== '-' && value !== undefined) values[name] = value;
    }
    return values;
  };
}
