import { ed25519 } from '@noble/curves/ed25519.js';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';

/** Returns true if bytes are a point in canonical encoding, in the prime-order subgroup. */
const isTorsionFree = (point: Uint8Array): boolean =>
  tryOrUndefined(() => ed25519.Point.fromBytes(point, false).isTorsionFree()) ?? false; // it may be no point

const isIdentity = (point: Uint8Array): boolean => point.every((byte, i) => byte === (i === 0 ? 1 : 0));

/**
 * Returns true if a key is strong. Under a weak key one signature can fit many messages, or libraries disagree, so its
 * owner could deny what they signed. Every key must pass before {@link isSignature} means anything.
 */
export const isStrongKey = (publicKey: Uint8Array): boolean =>
  publicKey.length === 32 && !isIdentity(publicKey) && isTorsionFree(publicKey);

/**
 * Verifies a signature by RFC 8032 with S below the group's order and R free of torsion, which is where libraries
 * differ: so the result equals OpenSSL's for every signature, hostile ones too.
 */
export const isSignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  signature.length === 64 &&
  ed25519.verify(signature, message, publicKey, { zip215: false }) &&
  isTorsionFree(signature.subarray(0, 32));

export const isStrongSignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  isStrongKey(publicKey) && isSignature(signature, message, publicKey);
