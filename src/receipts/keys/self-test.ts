import { type KeyObject, sign } from 'node:crypto';
import { headText } from '../statement.ts';
import { isStrongSignature } from '../verify/signature.ts';
import { publicBytes } from './key-format.ts';

/**
 * Tells whether what this machine signs is what the rest of the world verifies: signs a fixed head with the engine's
 * library and checks it with the one that verifiers use.
 */
export function signsTruly(key: KeyObject): boolean {
  const head = Buffer.from(headText(1, '0'.repeat(64)), 'latin1');
  const publicKey = publicBytes(key);
  return isStrongSignature(sign(null, head, key), head, publicKey);
}
