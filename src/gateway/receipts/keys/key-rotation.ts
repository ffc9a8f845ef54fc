import { sign } from 'node:crypto';
import { type Succession, successionText } from '../../../client/verify/index.ts';
import { createFile } from '../../../shared/runtime/files/create-file.ts';
import { type SigningKey, signingKeyOf } from '../signing-key.ts';
import { createKeyFile } from './key-file.ts';
import { readPrivateKey, recordPath, revocationPath, secretPath } from './key-history.ts';
import { activeKey, type KeyRing, keyState, type ReceiptKey } from './key-ring.ts';
import { formatPublicKeyRecord } from './public-key-record.ts';

/** Signed by the active key. Throws an Error if another key is already pending, or no key can sign the succession. */
export function rotateKey(path: string, ring: KeyRing, notBeforeMs: number, nowMs: number): ReceiptKey {
  const pending = ring.find((key) => keyState(ring, key, nowMs) === 'next');
  if (pending !== undefined)
    throw new Error(
      `${pending.kid} is already pending: it signs from ${new Date(pending.notBeforeMs).toISOString()} on`,
    );
  const active = activeKey(ring, nowMs);
  if (active === undefined) return addKey(path, ring, 0, null);
  if (active.signing === null)
    throw new Error(`the secret of ${active.kid} is missing: revoke it, and another key replaces it`);
  return addKey(path, ring, notBeforeMs, active.signing);
}

/**
 * Revokes a key for good. If it is the active one, a successor is created first, which signs immediately, without the
 * signature of the revoked key: that is worthless now. Returns that successor, or null if none was needed.
 */
export function revokeKey(path: string, ring: KeyRing, kid: string, nowMs: number): ReceiptKey | null {
  const index = ring.findIndex((key) => key.kid === kid);
  if (index < 0) throw new Error(`no key has the id ${kid}`);
  const successor = kid === activeKey(ring, nowMs)?.kid ? addKey(path, ring, 0, null) : null;
  createFile(revocationPath(path, index + 1), `${new Date(nowMs).toISOString()}\n`);
  return successor;
}

/** Creates a key. It counts once its record exists; a secret that a crash left without a record is reused. */
function addKey(path: string, ring: KeyRing, notBeforeMs: number, predecessor: SigningKey | null): ReceiptKey {
  const [first] = ring;
  if (first !== undefined) createFile(recordPath(path, 1), formatPublicKeyRecord(first));
  const n = ring.length + 1;
  createKeyFile(secretPath(path, n));
  const secret = readPrivateKey(secretPath(path, n));
  if (secret === undefined) throw new Error(`${secretPath(path, n)} has disappeared`);
  const signing = signingKeyOf(secret);
  const { publicKey, kid } = signing;
  const succession = predecessor === null ? null : signSuccession(predecessor, publicKey, notBeforeMs);
  const record = { publicKey, notBeforeMs, succession };
  if (!createFile(recordPath(path, n), formatPublicKeyRecord(record)))
    throw new Error('another process created a key at the same time');
  return { ...record, kid, isRevoked: false, signing };
}

export function signSuccession(predecessor: SigningKey, newKey: string, notBeforeMs: number): Succession {
  const text = Buffer.from(successionText(predecessor.publicKey, newKey, notBeforeMs), 'latin1');
  return { kid: predecessor.kid, sig: sign(null, text, predecessor.secret).toString('hex') };
}
