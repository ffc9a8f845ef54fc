import bs58 from 'bs58';
import type { ByteReader } from './byte-reader.ts';

/** An address as extensions keep it: absent when all its bytes are zero. */
export function keyUnlessZero(from: ByteReader): string | null {
  const bytes = from.bytes(32);
  return isZero(bytes) ? null : bs58.encode(bytes);
}

/** A boolean as extensions keep it: whatever is not zero is true. */
export const flag = (from: ByteReader): boolean => from.u8() !== 0;

/** The way stored bytes say that there is nothing. */
export const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
