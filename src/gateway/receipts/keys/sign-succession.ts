import { sign } from 'node:crypto';
import { type Succession, successionText } from '../../../client/verify/index.ts';
import type { SigningKey } from '../signing-key.ts';

/** Signs the succession of a key that takes over from `notBeforeMs` on. */
export function signSuccession(predecessor: SigningKey, newKey: string, notBeforeMs: number): Succession {
  const text = Buffer.from(successionText(predecessor.publicKey, newKey, notBeforeMs), 'latin1');
  return { kid: predecessor.kid, sig: sign(null, text, predecessor.secret).toString('hex') };
}
