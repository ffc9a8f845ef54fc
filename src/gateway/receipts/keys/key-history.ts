import type { KeyObject } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { isStrongKey, isSuccession } from '../../../client/verify/index.ts';
import { ifPresent } from '../../../shared/runtime/files/error-code.ts';
import { readRegularFile } from '../../../shared/runtime/files/read-regular-file.ts';
import { kidOf, type SigningKey, signingKeyOf } from '../signing-key.ts';
import { readKeyFile } from './key-file.ts';
import { type KeyRing, keyState, type ReceiptKey } from './key-ring.ts';
import { parsePrivateKey } from './private-key-format.ts';
import { parsePublicKeyRecord } from './public-key-record.ts';

/*
 * The history of a key lies in a folder next to its file, `receipt-key.pem.d`:
 *
 *   1.json            the public record of the key itself
 *   2.pem, 2.json     the next key: its secret, then its public record, which makes it count
 *   2.revoked         that key is revoked
 *
 * Every file appears whole and is never rewritten, so a crash at any moment leaves all keys as they were.
 */

/** More than a record needs. */
const MAX_RECORD_BYTES = 4096;

export const historyFolderOf = (path: string): string => `${path}.d`;

export const secretPath = (path: string, n: number): string =>
  n === 1 ? path : join(historyFolderOf(path), `${n}.pem`);

export const recordPath = (path: string, n: number): string => join(historyFolderOf(path), `${n}.json`);

export const revocationPath = (path: string, n: number): string => join(historyFolderOf(path), `${n}.revoked`);

export function readPrivateKey(path: string): KeyObject | undefined {
  const text = readKeyFile(path);
  if (text === undefined) return undefined;
  try {
    return parsePrivateKey(text);
  } catch (thrown) {
    throw new Error(`${path}: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

/**
 * Reads the key in a file and all its successors; returns undefined if there is none. Keys that sign or will sign have
 * their secrets, if these exist. Throws an Error that says which file is inconsistent.
 */
export function readKeyRing(path: string, nowMs: number): KeyRing | undefined {
  const ring = readRecords(path);
  if (ring.length === 0) {
    const secret = readPrivateKey(path);
    return secret === undefined ? undefined : singleKeyRing(signingKeyOf(secret));
  }
  return ring.map((key) =>
    needsSecret(ring, key, nowMs) ? { ...key, signing: readSigningKey(path, ring, key) } : key,
  );
}

export const singleKeyRing = (signing: SigningKey): KeyRing => {
  const { publicKey, kid } = signing;
  return [{ publicKey, kid, notBeforeMs: 0, succession: null, isRevoked: false, signing }];
};

export const needsSecret = (ring: KeyRing, key: ReceiptKey, nowMs: number): boolean =>
  ['active', 'next'].includes(keyState(ring, key, nowMs));

export const hasHistory = (path: string): boolean => readRecords(path).length > 0;

function readRecords(path: string): ReceiptKey[] {
  const names = fileNamesIn(historyFolderOf(path));
  const count = names.filter((name) => /^[1-9]\d*\.json$/.test(name)).length;
  const ring: ReceiptKey[] = [];
  for (let n = 1; n <= count; n++) {
    if (!names.includes(`${n}.json`)) throw new Error(`${recordPath(path, n)} is missing`);
    ring.push(readRecord(recordPath(path, n), names.includes(`${n}.revoked`), ring));
  }
  return ring;
}

function readRecord(file: string, isRevoked: boolean, earlierKeys: KeyRing): ReceiptKey {
  const record = parsePublicKeyRecord(readRegularFile(file, MAX_RECORD_BYTES));
  const publicBytes = bs58.decodeUnsafe(record?.publicKey ?? '');
  if (record === undefined || publicBytes === undefined || !isStrongKey(publicBytes))
    throw new Error(`${file} is damaged`);
  const { publicKey, notBeforeMs, succession } = record;
  const predecessor = earlierKeys.find(({ kid }) => kid === succession?.kid);
  if (
    succession !== null &&
    !(predecessor && isSuccession(succession.sig, predecessor.publicKey, publicKey, notBeforeMs))
  )
    throw new Error(`${file} is damaged: it lacks the signature of the former key`);
  return { ...record, kid: kidOf(publicBytes), isRevoked, signing: null };
}

/** Reads the private half of a key in the history at `path`; returns null if it is missing. Throws an Error for another key's. */
export function readSigningKey(path: string, ring: KeyRing, key: ReceiptKey): SigningKey | null {
  const file = secretPath(path, ring.indexOf(key) + 1);
  const secret = readPrivateKey(file);
  if (secret === undefined) return null;
  const signing = signingKeyOf(secret);
  if (signing.publicKey !== key.publicKey)
    throw new Error(`${file} holds another key than its record, ${key.publicKey}`);
  return signing;
}

const fileNamesIn = (folder: string): readonly string[] => ifPresent(() => readdirSync(folder)) ?? [];
