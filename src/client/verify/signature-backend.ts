import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { isSignature } from './ed25519-signature.ts';
import { parseTrustedKey, type TrustedKey } from './trusted-key.ts';

/** Checks whether 64 bytes are the Ed25519 signature of a message, by RFC 8032, under a strong key. */
export type SignatureCheck = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/** The slow parts of verification: keys and signatures. */
export interface SignatureBackend {
  parseKey(base58: string): TrustedKey;
  /** Returns true if the key signed the tree head. `sig` is 128 hex digits. */
  isSigned(treeHead: string, sig: string, key: TrustedKey): boolean;
}

export const createSignatureBackend = (check: SignatureCheck = isSignature): SignatureBackend => ({
  parseKey: parseTrustedKey,
  isSigned: (head, sig, key) => check(hexToBytes(sig), utf8ToBytes(head), key.bytes),
});

/** More keys than a verifier trusts at a time. */
const MAX_KEYS = 64;

/**
 * Caches valid results of a backend: keys, and the newest `maxHeads` tree heads with their signatures. The receipts of
 * a batch share a tree head, so each batch costs one signature. Failures are not cached: anybody can produce them.
 */
export function memoized(backend: SignatureBackend, maxHeads: number): SignatureBackend {
  const keys = new Map<string, TrustedKey>();
  const heads = new Set<string>();
  return {
    parseKey(base58) {
      const known = keys.get(base58);
      if (known !== undefined) return known;
      const key = backend.parseKey(base58);
      if (keys.size >= MAX_KEYS) keys.clear();
      keys.set(base58, key);
      return key;
    },
    isSigned(head, sig, key) {
      const cacheKey = `${key.base58} ${sig} ${head}`;
      if (heads.has(cacheKey)) return true;
      if (!backend.isSigned(head, sig, key)) return false;
      heads.add(cacheKey);
      for (const oldest of heads) {
        if (heads.size <= maxHeads) break;
        heads.delete(oldest);
      }
      return true;
    },
  };
}
