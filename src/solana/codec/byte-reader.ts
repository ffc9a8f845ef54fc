import bs58 from 'bs58';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the fields of account and instruction data one after another, little-endian. What does not fit throws RangeError. */
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

  /** A byte that programs write as 0 or 1 and refuse to read as anything else. */
  bool(): boolean {
    return this.#toBoolean(this.u8());
  }

  bytes(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** The next bytes without moving on; fewer where fewer are left. */
  peek(length: number): Uint8Array {
    return this.#bytes.subarray(this.#offset, this.#offset + length);
  }

  remainingBytes(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /** An address or a hash, in base58. */
  pubkey(): string {
    return bs58.encode(this.bytes(32));
  }

  /** Text behind its length in four bytes, as borsh writes it. */
  borshString(): string {
    return decodeUtf8(this.bytes(this.u32()));
  }

  /** Text behind its length in eight bytes, as bincode writes it. */
  bincodeString(): string {
    return decodeUtf8(this.bytes(Number(this.u64())));
  }

  /** All that is left, as text. */
  remainingText(): string {
    return decodeUtf8(this.remainingBytes());
  }

  /** What follows a flag of one byte, and is left out when there is nothing. */
  option<T>(read: () => T): T | null {
    return this.bool() ? read() : null;
  }

  /** What follows a flag of four bytes, and takes its place even when there is nothing. */
  cOption<T>(read: () => T): T | null {
    const present = this.#toBoolean(this.u32());
    const value = read();
    return present ? value : null;
  }

  /** What `read` reads, so many times. A count that the data can't hold fails at the first that is missing. */
  array<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    while (items.length < count) items.push(read());
    return items;
  }

  /** As many as the four bytes in front say. */
  vec<T>(read: () => T): T[] {
    return this.array(this.u32(), read);
  }

  /** What `read` reads, again and again until nothing is left. */
  untilEnd<T>(read: () => T): T[] {
    const items: T[] = [];
    while (this.remaining > 0) items.push(read());
    return items;
  }

  #toBoolean(value: number): boolean {
    if (value > 1) throw new RangeError(`${value} is not a flag`);
    return value === 1;
  }

  /** Moves on and returns where it was. */
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

/** What `read` reads from the data, or undefined when the data has another form. Anyone may have written the data. */
export function tryDecode<T>(data: Uint8Array, decode: (reader: ByteReader) => T): T | undefined {
  try {
    return decode(new ByteReader(data));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
