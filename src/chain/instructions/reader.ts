import bs58 from 'bs58';

const text = new TextDecoder();
const strict = new TextDecoder('utf-8', { fatal: true });

/** Reads the fields of account and instruction data one after another, little-endian. Past the end it throws RangeError. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;

  constructor(bytes: Uint8Array, start = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  i16(): number {
    return this.#view.getInt16(this.#skip(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#skip(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#skip(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#skip(8), true);
  }

  bytes(length: number): Uint8Array {
    const start = this.#skip(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** What is left, without moving on. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** An address or a hash, in base58. */
  key(): string {
    return bs58.encode(this.bytes(32));
  }

  /** An address that is absent when all its bytes are zero, as extensions store it. */
  keyOrZero(): string | null {
    const bytes = this.bytes(32);
    return bytes.every((byte) => byte === 0) ? null : bs58.encode(bytes);
  }

  /** An address behind a one-byte flag that takes no space when absent, as token instructions carry it. */
  keyIfAny(): string | null {
    return this.u8() === 1 ? this.key() : null;
  }

  /** An address behind a four-byte flag that takes its space even when absent, as token accounts store it. */
  optionalKey(): string | null {
    const present = this.u32() === 1;
    const key = this.key();
    return present ? key : null;
  }

  /** What `read` reads, so many times. */
  times<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    while (items.length < count) items.push(read()); // a false count ends at the end of the data, not of the memory
    return items;
  }

  /** All that is left, as text. Throws TypeError when it is not UTF-8. */
  text(): string {
    return strict.decode(this.bytes(this.left));
  }

  /** Text behind a four-byte length, as borsh writes it. */
  string(): string {
    return text.decode(this.bytes(this.u32()));
  }

  /** Text behind an eight-byte length, as bincode writes it. */
  longString(): string {
    return text.decode(this.bytes(Number(this.u64())));
  }

  /** What `read` reads, again and again to the end. */
  list<T>(read: () => T): T[] {
    const items: T[] = [];
    while (this.left > 0) items.push(read());
    return items;
  }

  /** Moves on and returns where it was. */
  #skip(length: number): number {
    const start = this.#at;
    if (length > this.left) throw new RangeError(`${length} bytes wanted, ${this.left} left`);
    this.#at += length;
    return start;
  }
}
