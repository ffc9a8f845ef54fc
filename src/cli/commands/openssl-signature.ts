import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { SignatureCheck } from '../../client/verify/index.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';

/** Start of a SubjectPublicKeyInfo in DER, before the 32 bytes of the key. */
const SPKI_PREFIX = Uint8Array.of(0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0);

/** About twenty times as fast as the portable check. Under a strong key the two agree, on a hostile signer's too. */
export const isOpensslSignature: SignatureCheck = (signature, message, publicKey) =>
  verify(null, message, keyObjectOf(publicKey), signature);

const keyObjectOf = oncePer(
  (publicKey: Uint8Array): KeyObject =>
    createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' }),
);
