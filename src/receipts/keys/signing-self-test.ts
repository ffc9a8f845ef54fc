import { type KeyObject, sign } from 'node:crypto';
import { publicBytesOf } from '../signing-key.ts';
import { treeHeadText } from '../statement.ts';
import { isStrongSignature } from '../verify/ed25519-signature.ts';

/**
 * Tells whether signatures made on this machine verify elsewhere: signs a fixed tree head with Node's library and checks it
 * with the library that verifiers use.
 */
export function passesSigningTest(key: KeyObject): boolean {
  const treeHead = Buffer.from(treeHeadText(1, '0'.repeat(64)), 'latin1');
  const publicKey = publicBytesOf(key);
  return isStrongSignature(sign(null, treeHead, key), treeHead, publicKey);
}
