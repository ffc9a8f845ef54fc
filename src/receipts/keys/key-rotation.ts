import { createFile } from '../../runtime/files/create-file.ts';
import { type SigningKey, signingKeyOf } from '../signing-key.ts';
import { createKeyFile } from './key-file.ts';
import { readPrivateKey, recordPath, revocationPath, secretPath } from './key-history.ts';
import { activeKey, type KeyRing, keyState, type ReceiptKey } from './key-ring.ts';
import { formatPublicKeyRecord } from './public-key-record.ts';
import { signSuccession } from './sign-succession.ts';

/**
 * Adds the key that takes over at `notBeforeMs`, with the word of the one that signs now. Throws an Error when there
 * is one that waits already, or nobody to give the word.
 */
export function rotateKey(path: string, ring: KeyRing, notBeforeMs: number, nowMs: number): ReceiptKey {
  const pending = ring.find((key) => keyState(ring, key, nowMs) === 'next');
  if (pending !== undefined)
    throw new Error(`${pending.kid} waits already: it signs from ${new Date(pending.notBeforeMs).toISOString()} on`);
  const active = activeKey(ring, nowMs);
  if (active === undefined) return addKey(path, ring, 0, null);
  if (active.signing === null)
    throw new Error(`the secret of ${active.kid} is gone: revoke it, and another takes its place`);
  return addKey(path, ring, notBeforeMs, active.signing);
}

/**
 * Declares a key void for good. The one that signs has its successor first: a new one, at once and without a word of
 * the old one, which is worth nothing now. Returns that successor, or null when none was needed.
 */
export function revokeKey(path: string, ring: KeyRing, kid: string, nowMs: number): ReceiptKey | null {
  const index = ring.findIndex((key) => key.kid === kid);
  if (index < 0) throw new Error(`no key has the id ${kid}`);
  const successor = kid === activeKey(ring, nowMs)?.kid ? addKey(path, ring, 0, null) : null;
  createFile(revocationPath(path, index + 1), `${new Date(nowMs).toISOString()}\n`);
  return successor;
}

/** It counts from the moment its record is there; a secret that a crash left without one is taken up again. */
function addKey(path: string, ring: KeyRing, notBeforeMs: number, predecessor: SigningKey | null): ReceiptKey {
  const [first] = ring;
  if (first !== undefined) createFile(recordPath(path, 1), formatPublicKeyRecord(first));
  const n = ring.length + 1;
  createKeyFile(secretPath(path, n));
  const secret = readPrivateKey(secretPath(path, n));
  if (secret === undefined) throw new Error(`${secretPath(path, n)} went away`);
  const signing = signingKeyOf(secret);
  const { publicKey, kid } = signing;
  const succession = predecessor === null ? null : signSuccession(predecessor, publicKey, notBeforeMs);
  const record = { publicKey, notBeforeMs, succession };
  if (!createFile(recordPath(path, n), formatPublicKeyRecord(record)))
    throw new Error('somebody else has made another key meanwhile');
  return { ...record, kid, isRevoked: false, signing };
}
