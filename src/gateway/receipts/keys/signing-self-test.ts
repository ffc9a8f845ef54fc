import { type KeyObject, sign } from 'node:crypto';
import { isStrongSignature, treeHeadText } from '../../../client/verify/index.ts';
import { publicBytesOf } from '../signing-key.ts';

/**
 * Returns true if signatures made on this machine verify elsewhere: signs a fixed tree head with Node's library and
 * checks it with the library that verifiers use.
 */
export function passesSigningTest(key: KeyObject): boolean {
  const treeHead = Buffer.from(treeHeadText(1, '0'.repeat(64)), 'latin1');
  const publicKey = publicBytesOf(key);
  return isStrongSignature(sign(null, treeHead, key), treeHead, publicKey);
}
