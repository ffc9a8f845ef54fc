import { sign } from 'node:crypto';
import bs58 from 'bs58';
import type { SigningKey } from './sign.ts';
import { isSignature } from './signature.ts';

/** A key's word for the one that comes after it. Who trusts the first may trust the second. */
export interface Succession {
  /** The id of the key that gives its word. */
  readonly kid: string;
  /** Its signature under {@link successionText}, lower-case hex. */
  readonly sig: string;
}

/** What is signed. Public keys are base58; from `notBeforeMs`, in Unix milliseconds, the new one signs. */
export const successionText = (oldKey: string, newKey: string, notBeforeMs: number): string =>
  `proof-of-serve/v1 succession\n${oldKey}\n${newKey}\n${notBeforeMs}\n`;

/** Names the key that takes over. */
export function succeed(old: SigningKey, newKey: string, notBeforeMs: number): Succession {
  const text = Buffer.from(successionText(old.publicKey, newKey, notBeforeMs), 'latin1');
  return { kid: old.kid, sig: sign(null, text, old.secret).toString('hex') };
}

/** Whether the holder of `oldKey` said that `newKey` takes over then. Both must be strong keys. */
export const isSuccession = (sig: string, oldKey: string, newKey: string, notBeforeMs: number): boolean =>
  isSignature(
    Buffer.from(sig, 'hex'),
    Buffer.from(successionText(oldKey, newKey, notBeforeMs), 'latin1'),
    bs58.decode(oldKey),
  );
