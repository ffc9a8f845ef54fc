import type { KeyObject } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { hasCode } from '../../runtime/files/errno.ts';
import { kidOf, type SigningKey, signingKey } from '../sign.ts';
import { isStrongKey } from '../verify/signature.ts';
import { readKeyFile } from './key-file.ts';
import { parseKey } from './key-format.ts';
import { parseRecord } from './key-record.ts';
import { type KeyRing, type KnownKey, keyState } from './key-ring.ts';
import { isSuccession } from './succession.ts';

/*
 * What becomes of a key is kept in a folder beside its file, `receipt-key.pem.d`:
 *
 *   1.json            the public record of the key itself
 *   2.pem, 2.json     the key after it: its secret, then its public record, with which it counts
 *   2.revoked         that key is void
 *
 * Every file appears whole and is never written again, so that a crash at any moment leaves all keys as they were.
 */

/** The folder of what became of the key in a file. */
export const folderOf = (path: string): string => `${path}.d`;

/** The secret of the nth key. The first is where it was before there was another. */
export const secretFile = (path: string, n: number): string => (n === 1 ? path : join(folderOf(path), `${n}.pem`));

export const recordFile = (path: string, n: number): string => join(folderOf(path), `${n}.json`);

export const revokedFile = (path: string, n: number): string => join(folderOf(path), `${n}.revoked`);

/** The private key in a file, or undefined when there is none. Throws an Error that names the file. */
export function readKey(path: string): KeyObject | undefined {
  const text = readKeyFile(path);
  if (text === undefined) return undefined;
  try {
    return parseKey(text);
  } catch (thrown) {
    throw new Error(`${path}: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

/**
 * The key in a file and all that came after it; undefined where there is none. Those that sign or will sign have
 * their secrets, as far as they are there. Throws an Error that says what does not fit.
 */
export function readKeyRing(path: string, nowMs: number): KeyRing | undefined {
  const ring = readRecords(path);
  if (ring.length === 0) {
    const secret = readKey(path);
    return secret === undefined ? undefined : ringOf(signingKey(secret));
  }
  return ring.map((key, i) =>
    isUsed(ring, key, nowMs) ? { ...key, signing: signingOf(secretFile(path, i + 1), key) } : key,
  );
}

/** A key without a history. */
export const ringOf = (signing: SigningKey): KeyRing => [
  { ...namesOf(signing), notBeforeMs: 0, succession: null, isRevoked: false, signing },
];

const namesOf = ({ publicKey, kid }: SigningKey) => ({ publicKey, kid });

/** Whether the secret of a key is needed from now on. */
export const isUsed = (ring: KeyRing, key: KnownKey, nowMs: number): boolean =>
  ['active', 'next'].includes(keyState(ring, key, nowMs));

function readRecords(path: string): KnownKey[] {
  const names = namesIn(folderOf(path));
  const count = names.filter((name) => /^[1-9]\d*\.json$/.test(name)).length;
  const ring: KnownKey[] = [];
  for (let n = 1; n <= count; n++) {
    if (!names.includes(`${n}.json`)) throw new Error(`${recordFile(path, n)} is gone`);
    ring.push(readRecord(recordFile(path, n), names.includes(`${n}.revoked`), ring));
  }
  return ring;
}

function readRecord(file: string, isRevoked: boolean, before: KeyRing): KnownKey {
  const record = parseRecord(readFileSync(file, 'utf8'));
  const raw = bs58.decodeUnsafe(record?.publicKey ?? '');
  if (record === undefined || raw === undefined || !isStrongKey(raw)) throw new Error(`${file} is damaged`);
  const { publicKey, notBeforeMs, succession } = record;
  const giver = before.find(({ kid }) => kid === succession?.kid);
  if (succession !== null && !(giver && isSuccession(succession.sig, giver.publicKey, publicKey, notBeforeMs)))
    throw new Error(`${file} is damaged: the key before it did not sign this`);
  return { ...record, kid: kidOf(raw), isRevoked, signing: null };
}

function signingOf(file: string, { publicKey }: KnownKey): SigningKey | null {
  const secret = readKey(file);
  if (secret === undefined) return null;
  const signing = signingKey(secret);
  if (signing.publicKey !== publicKey) throw new Error(`${file} holds another key than ${publicKey}, which was there`);
  return signing;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  }
}
