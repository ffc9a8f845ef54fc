import { writeNewFile } from '../../runtime/files/new-file.ts';
import { type SigningKey, signingKey, succeed } from '../sign.ts';
import { createKeyFile } from './key-file.ts';
import { readKey, recordFile, revokedFile, secretFile } from './key-folder.ts';
import { recordText } from './key-record.ts';
import { activeKey, type KeyRing, type KnownKey, keyState } from './key-ring.ts';

/**
 * Adds the key that takes over at `notBeforeMs`, with the word of the one that signs now. Throws an Error when there
 * is one that waits already, or nobody to give the word.
 */
export function rotateKey(path: string, ring: KeyRing, notBeforeMs: number, nowMs: number): KnownKey {
  const waiting = ring.find((key) => keyState(ring, key, nowMs) === 'next');
  if (waiting !== undefined)
    throw new Error(`${waiting.kid} waits already: it signs from ${new Date(waiting.notBeforeMs).toISOString()} on`);
  const old = activeKey(ring, nowMs);
  if (old === undefined) return addKey(path, ring, 0, null);
  if (old.signing === null) throw new Error(`the secret of ${old.kid} is gone: revoke it, and another takes its place`);
  return addKey(path, ring, notBeforeMs, old.signing);
}

/**
 * Declares a key void for good. The one that signs has its successor first: a new one, at once and without a word of
 * the old one, which is worth nothing now. Returns that successor, or null when none was needed.
 */
export function revokeKey(path: string, ring: KeyRing, kid: string, nowMs: number): KnownKey | null {
  const place = ring.findIndex((key) => key.kid === kid);
  if (place < 0) throw new Error(`no key has the id ${kid}`);
  const successor = kid === activeKey(ring, nowMs)?.kid ? addKey(path, ring, 0, null) : null;
  writeNewFile(revokedFile(path, place + 1), `${new Date(nowMs).toISOString()}\n`);
  return successor;
}

/** It counts from the moment its record is there; a secret that a crash left without one is taken up again. */
function addKey(path: string, ring: KeyRing, notBeforeMs: number, by: SigningKey | null): KnownKey {
  const [first] = ring;
  if (first !== undefined) writeNewFile(recordFile(path, 1), recordText(first));
  const n = ring.length + 1;
  createKeyFile(secretFile(path, n));
  const secret = readKey(secretFile(path, n));
  if (secret === undefined) throw new Error(`${secretFile(path, n)} went away`);
  const signing = signingKey(secret);
  const { publicKey, kid } = signing;
  const succession = by === null ? null : succeed(by, publicKey, notBeforeMs);
  const record = { publicKey, notBeforeMs, succession };
  if (!writeNewFile(recordFile(path, n), recordText(record)))
    throw new Error('somebody else has made another key meanwhile');
  return { ...record, kid, isRevoked: false, signing };
}
