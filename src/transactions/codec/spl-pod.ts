import { encodeKey } from './base58-key.ts';
import type { ByteReader } from './byte-reader.ts';

/** Reads an address that is absent when all its bytes are zero (spl-pod's OptionalNonZeroPubkey). */
export function readOptionalPubkey(reader: ByteReader): string | null {
  const bytes = reader.bytes(32);
  return isAllZero(bytes) ? null : encodeKey(bytes);
}

/** Reads a boolean that is true for any byte but zero (spl-pod's PodBool). */
export const readPodBool = (reader: ByteReader): boolean => reader.u8() !== 0;

/** Returns whether all bytes are zero, as an absent value is stored. */
export const isAllZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
