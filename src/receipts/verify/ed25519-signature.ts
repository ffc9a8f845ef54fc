import { ed25519 } from '@noble/curves/ed25519.js';

/** True for a point in canonical encoding whose order is the group's prime, or that is the identity. */
function isTorsionFree(point: Uint8Array): boolean {
  try {
    return ed25519.Point.fromBytes(point, false).isTorsionFree();
  } catch {
    return false; // not a point
  }
}

/** The identity's encoding: y = 1, x = 0. */
const isIdentity = (point: Uint8Array): boolean => point.every((byte, i) => byte === (i === 0 ? 1 : 0));

/**
 * False for a key under which one signature can fit many messages, or libraries disagree: its owner could deny what
 * was signed. Every key must pass before {@link isSignature} means anything.
 */
export const isStrongKey = (publicKey: Uint8Array): boolean =>
  publicKey.length === 32 && !isIdentity(publicKey) && isTorsionFree(publicKey);

/**
 * RFC 8032 Ed25519 with S below the group's order and R free of torsion, which is where libraries differ: so this
 * agrees with OpenSSL on every signature, hostile ones too.
 */
export const isSignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  signature.length === 64 &&
  ed25519.verify(signature, message, publicKey, { zip215: false }) &&
  isTorsionFree(signature.subarray(0, 32));

/** The whole verdict, for a key that nobody has looked at before. */
export const isStrongSignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  isStrongKey(publicKey) && isSignature(signature, message, publicKey);
