import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { isStrongKey } from './ed25519-signature.ts';

const KEY_BYTES = 32;
const KID_BYTES = 8;
/** The base58 of 32 bytes, and of some others. */
const KEY_TEXT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** A public key that the verifier trusts. */
export interface TrustedKey {
  /** Base58. */
  readonly base58: string;
  readonly bytes: Uint8Array;
  readonly kid: string;
  /** Whether the owner can't deny a signature; computed once, as it costs as much as a signature. */
  readonly isStrong: () => boolean;
}

/** Parses a public key from base58. Throws a TypeError if it is none, which is a mistake of the verifier's user. */
export function parseTrustedKey(text: string): TrustedKey {
  const bytes = KEY_TEXT.test(text) ? bs58.decodeUnsafe(text) : undefined; // a long text would take minutes
  if (bytes?.length !== KEY_BYTES) throw new TypeError('a trusted key must be 32 bytes in base58');
  let strong: boolean | undefined;
  return {
    base58: bs58.encode(bytes),
    bytes,
    kid: bytesToHex(sha256(bytes).subarray(0, KID_BYTES)),
    isStrong: () => {
      strong ??= isStrongKey(bytes);
      return strong;
    },
  };
}
