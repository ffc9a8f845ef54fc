import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { isSignature } from './ed25519-signature.ts';

/** The signature of a key under its successor. Whoever trusts the first key may trust the second. */
export interface Succession {
  readonly kid: string;
  /** Its signature under {@link successionText}, lower-case hex. */
  readonly sig: string;
}

/** Returns the signed text. Public keys are base58; the new key signs from `notBeforeMs` on, in Unix milliseconds. */
export const successionText = (oldKey: string, newKey: string, notBeforeMs: number): string =>
  `proof-of-serve/v1 succession\n${oldKey}\n${newKey}\n${notBeforeMs}\n`;

/** Returns true if the owner of `oldKey` signed that `newKey` succeeds it then. Both must be strong keys. */
export const isSuccession = (sig: string, oldKey: string, newKey: string, notBeforeMs: number): boolean =>
  isSignature(hexToBytes(sig), utf8ToBytes(successionText(oldKey, newKey, notBeforeMs)), bs58.decode(oldKey));

const HEADER = /^([0-9a-f]{16});(0|[1-9]\d{0,14});([0-9a-f]{128})$/;

/** Parses the header `X-Key-Succession`; returns undefined if it is malformed. */
export function parseSuccession(header: string): (Succession & { readonly notBeforeMs: number }) | undefined {
  const [, kid, notBeforeMs, sig] = HEADER.exec(header) ?? [];
  if (kid === undefined || sig === undefined) return undefined;
  return { kid, notBeforeMs: Number(notBeforeMs), sig };
}
