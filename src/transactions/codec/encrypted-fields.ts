import type { ByteReader } from './byte-reader.ts';
import { isAllZero } from './spl-pod.ts';

export const ELGAMAL_KEY_BYTES = 32;
export const ELGAMAL_CIPHERTEXT_BYTES = 64;
export const AES_CIPHERTEXT_BYTES = 36;

/** Reads an encrypted amount or a key to one, as base64. */
export const readEncrypted = (reader: ByteReader, length: number): string => encodeBase64(reader.bytes(length));

/** Reads an encrypted amount or a key to one that is absent when all its bytes are zero. */
export function readOptionalEncrypted(reader: ByteReader, length: number): string | null {
  const bytes = reader.bytes(length);
  return isAllZero(bytes) ? null : encodeBase64(bytes);
}

const encodeBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
