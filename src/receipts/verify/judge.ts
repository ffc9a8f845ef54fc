import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { isSignature } from './signature.ts';
import { type TrustedKey, trustedKey } from './trusted-key.ts';

/** Tells whether 64 bytes are the Ed25519 signature of a message, by RFC 8032, under a strong key. */
export type SignatureCheck = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/** What a verifier asks about keys and heads: the slow part of verifying. */
export interface Judge {
  keyOf(base58: string): TrustedKey;
  /** `sig` is 128 hex digits. */
  isSigned(head: string, sig: string, key: TrustedKey): boolean;
}

/** Looks at everything anew. */
export const judge = (check: SignatureCheck = isSignature): Judge => ({
  keyOf: trustedKey,
  isSigned: (head, sig, key) => check(hexToBytes(sig), utf8ToBytes(head), key.bytes),
});

/** More keys than any verifier trusts at a time. */
const MAX_KEYS = 64;

/**
 * Remembers what held: keys, and the newest `maxHeads` heads under their very signatures. The receipts of a batch
 * share a head, so each batch costs one signature. What fails is not remembered: anybody can make that up.
 */
export function remembering(inner: Judge, maxHeads: number): Judge {
  const keys = new Map<string, TrustedKey>();
  const heads = new Set<string>();
  return {
    keyOf(base58) {
      const known = keys.get(base58);
      if (known !== undefined) return known;
      const key = inner.keyOf(base58);
      if (keys.size >= MAX_KEYS) keys.clear();
      keys.set(base58, key);
      return key;
    },
    isSigned(head, sig, key) {
      const name = `${key.text} ${sig} ${head}`;
      if (heads.has(name)) return true;
      if (!inner.isSigned(head, sig, key)) return false;
      heads.add(name);
      for (const oldest of heads) {
        if (heads.size <= maxHeads) break;
        heads.delete(oldest);
      }
      return true;
    },
  };
}
