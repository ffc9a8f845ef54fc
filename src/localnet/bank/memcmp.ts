/** Bytes that the data of an account must have at an offset: Solana's `memcmp` filter. */
export interface Memcmp {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Returns whether data has the bytes of a filter; data that ends before them has not. */
export const matchesMemcmp = (data: Uint8Array, { offset, bytes }: Memcmp): boolean =>
  Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0;
