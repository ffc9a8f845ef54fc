import { createPublicKey, type KeyObject } from 'node:crypto';
import bs58 from 'bs58';
import { digestOf } from './digest.ts';

const SPKI_PREFIX_BYTES = 12;
const KID_DIGITS = 16;

export const publicBytesOf = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX_BYTES);

export interface SigningKey {
  readonly secret: KeyObject;
  readonly publicKey: string;
  readonly kid: string;
}

export const kidOf = (publicKey: Uint8Array): string => digestOf(publicKey).slice(0, KID_DIGITS);

export function signingKeyOf(secret: KeyObject): SigningKey {
  const raw = publicBytesOf(secret);
  return { secret, publicKey: bs58.encode(raw), kid: kidOf(raw) };
}
