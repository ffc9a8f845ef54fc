import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { isSignature } from '../verify/ed25519-signature.ts';

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

/** Whether the holder of `oldKey` said that `newKey` takes over then. Both must be strong keys. Runs in a browser. */
export const isSuccession = (sig: string, oldKey: string, newKey: string, notBeforeMs: number): boolean =>
  isSignature(hexToBytes(sig), utf8ToBytes(successionText(oldKey, newKey, notBeforeMs)), bs58.decode(oldKey));

const HEADER = /^([0-9a-f]{16});(0|[1-9]\d{0,14});([0-9a-f]{128})$/;

/** What `X-Key-Succession` says of the key beside it; undefined when it says nothing that can be read. */
export function parseSuccession(header: string): (Succession & { readonly notBeforeMs: number }) | undefined {
  const [, kid, notBeforeMs, sig] = HEADER.exec(header) ?? [];
  if (kid === undefined || sig === undefined) return undefined;
  return { kid, notBeforeMs: Number(notBeforeMs), sig };
}
