import { createPublicKey, type KeyObject } from 'node:crypto';
import bs58 from 'bs58';
import { digestOf } from './digest.ts';

const SPKI_PREFIX_BYTES = 12;
const KID_DIGITS = 16;

/** Returns the 32 bytes of the public half. */
export const publicBytesOf = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX_BYTES);

/** A private key with its public key and id. */
export interface SigningKey {
  /** An Ed25519 private key. */
  readonly secret: KeyObject;
  /** The 32 public bytes, base58. */
  readonly publicKey: string;
  readonly kid: string;
}

/** Returns the id of a public key of 32 bytes. */
export const kidOf = (publicKey: Uint8Array): string => digestOf(publicKey).slice(0, KID_DIGITS);

/** Derives public key and id from an Ed25519 private key. */
export function signingKeyOf(secret: KeyObject): SigningKey {
  const raw = publicBytesOf(secret);
  return { secret, publicKey: bs58.encode(raw), kid: kidOf(raw) };
}
