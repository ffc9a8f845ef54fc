import { createHash } from 'node:crypto';
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';

// Signatures that the owner of a key can make but no signing library would.

const ORDER = ed25519.Point.Fn.ORDER;

/** The eight points of small order; the first is the identity. */
export const SMALL_ORDER = ED25519_TORSION_SUBGROUP.map((hex) => Buffer.from(hex, 'hex'));

/** Encodes a number in 32 bytes. */
export const littleEndianScalar = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse();
export const littleEndianInteger = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** A second encoding of the identity: y = p + 1. */
export const NON_CANONICAL_IDENTITY = littleEndianScalar(2n ** 255n - 18n);

const pointOf = (bytes: Uint8Array) => ed25519.Point.fromBytes(bytes, true);

/** Adds a point of small order to a key: its owner can sign for either. */
export const withTorsion = (publicKey: Uint8Array, torsion: Uint8Array): Uint8Array =>
  pointOf(publicKey).add(pointOf(torsion)).toBytes();

/** Makes a signature under `publicKey` whose R is `r`, where `nonce` is R's discrete logarithm up to torsion. */
export function craftSignature(
  seed: Uint8Array,
  publicKey: Uint8Array,
  message: Uint8Array,
  r: Uint8Array,
  nonce: bigint,
): Buffer {
  const { scalar: secret } = ed25519.utils.getExtendedPublicKey(seed);
  const challenge =
    littleEndianInteger(createHash('sha512').update(r).update(publicKey).update(message).digest()) % ORDER;
  return Buffer.concat([r, littleEndianScalar((nonce + challenge * secret) % ORDER)]);
}

/** Returns the honest R of a nonce, with a point of small order added. */
export const commitmentTo = (nonce: bigint, torsion: Uint8Array): Uint8Array =>
  ed25519.Point.BASE.multiply(nonce).add(pointOf(torsion)).toBytes();

/** Returns the signature with S beyond the order of the group: S + times * L. */
export const withUnreducedScalar = (signature: Uint8Array, times = 1n): Buffer =>
  Buffer.concat([
    signature.subarray(0, 32),
    littleEndianScalar(littleEndianInteger(signature.subarray(32)) + times * ORDER),
  ]);
