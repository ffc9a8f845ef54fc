import { encodeKey } from './base58-key.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the fields of account and instruction data in order, little-endian. Throws RangeError past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#offset = offset;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  i16(): number {
    return this.#view.getInt16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Reads a byte that programs write as 0 or 1; throws RangeError on any other. */
  bool(): boolean {
    return this.#toBoolean(this.u8());
  }

  bytes(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Returns the next bytes without advancing; fewer if fewer remain. */
  peek(length: number): Uint8Array {
    return this.#bytes.subarray(this.#offset, this.#offset + length);
  }

  remainingBytes(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /** Reads an address or a hash, in base58. */
  pubkey(): string {
    return encodeKey(this.bytes(32));
  }

  /** Reads UTF-8 text after its length in four bytes (borsh). */
  borshString(): string {
    return decodeUtf8(this.bytes(this.u32()));
  }

  /** Reads UTF-8 text after its length in eight bytes (bincode). */
  bincodeString(): string {
    return decodeUtf8(this.bytes(Number(this.u64())));
  }

  /** Reads all remaining bytes as UTF-8 text. */
  remainingText(): string {
    return decodeUtf8(this.remainingBytes());
  }

  /** Reads an optional value after a one-byte flag; no bytes follow a zero flag (borsh). */
  option<T>(read: () => T): T | null {
    return this.bool() ? read() : null;
  }

  /** Reads an optional value after a four-byte flag; its bytes are always there (spl-token's COption). */
  cOption<T>(read: () => T): T | null {
    const present = this.#toBoolean(this.u32());
    const value = read();
    return present ? value : null;
  }

  /** Calls `read` `count` times. Stops at the first item past the end, however large `count` is. */
  array<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    while (items.length < count) items.push(read());
    return items;
  }

  /** Reads a list after its length in four bytes (borsh). */
  vec<T>(read: () => T): T[] {
    return this.array(this.u32(), read);
  }

  /** Calls `read` until no bytes remain. */
  untilEnd<T>(read: () => T): T[] {
    const items: T[] = [];
    while (this.remaining > 0) items.push(read());
    return items;
  }

  #toBoolean(value: number): boolean {
    if (value > 1) throw new RangeError(`${value} is not a flag`);
    return value === 1;
  }

  /** Advances and returns the previous offset. */
  #advance(length: number): number {
    const start = this.#offset;
    if (length > this.remaining) throw new RangeError(`${length} bytes wanted, ${this.remaining} left`);
    this.#offset += length;
    return start;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new RangeError('not UTF-8', { cause });
  }
}

/** Decodes data that anyone may have written. Undefined if `decode` runs past its end or refuses a value (RangeError). */
export function tryDecode<T>(data: Uint8Array, decode: (reader: ByteReader) => T): T | undefined {
  try {
    return decode(new ByteReader(data));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
