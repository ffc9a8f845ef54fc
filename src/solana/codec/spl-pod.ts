import bs58 from 'bs58';
import type { ByteReader } from './byte-reader.ts';

/** An address as extensions keep it: absent when all its bytes are zero. */
export function readOptionalPubkey(reader: ByteReader): string | null {
  const bytes = reader.bytes(32);
  return isAllZero(bytes) ? null : bs58.encode(bytes);
}

/** A boolean as extensions keep it: whatever is not zero is true. */
export const readPodBool = (reader: ByteReader): boolean => reader.u8() !== 0;

/** The way stored bytes say that there is nothing. */
export const isAllZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
