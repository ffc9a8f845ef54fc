import { type KeyObject, sign } from 'node:crypto';
import { publicBytesOf } from '../signing-key.ts';
import { treeHeadText } from '../statement.ts';
import { isStrongSignature } from '../verify/ed25519-signature.ts';

/**
 * Tells whether what this machine signs is what the rest of the world verifies: signs a fixed head with the engine's
 * library and checks it with the one that verifiers use.
 */
export function passesSigningTest(key: KeyObject): boolean {
  const treeHead = Buffer.from(treeHeadText(1, '0'.repeat(64)), 'latin1');
  const publicKey = publicBytesOf(key);
  return isStrongSignature(sign(null, treeHead, key), treeHead, publicKey);
}
