import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import { isStrongSignature, treeHeadText } from '../../../client/verify/index.ts';
import { reasonOf } from '../../../shared/domain/reason-of.ts';
import { StartError } from '../../../shared/domain/start-error.ts';
import { removeTempFiles } from '../../../shared/runtime/files/create-file.ts';
import { requireFolder } from '../../../shared/runtime/files/state-folder.ts';
import { publicBytesOf, signingKeyOf } from '../signing-key.ts';
import { createKeyFile } from './key-file.ts';
import { hasHistory, needsSecret, readKeyRing, readSigningKey, secretPath, singleKeyRing } from './key-history.ts';
import { activeKey, type KeyRing } from './key-ring.ts';
import type { KeySource } from './key-source.ts';
import { parsePrivateKey } from './private-key-format.ts';

const FILE_NAME = 'receipt-key.pem';
const SOLANA_WALLET_PATH = /[\\/]\.config[\\/]solana[\\/]id\.json$/;
const EPHEMERAL = 'the receipt key is ephemeral: it ends with this process, so its receipts cannot be verified later';
const BAD_CONFIGURATION = 78;

export interface StoredReceiptKeys {
  readonly ring: KeyRing;
  /** The file of the first key; null if it is the only one because it was given inline or is ephemeral. */
  readonly path: string | null;
}

export interface LoadedReceiptKeys extends StoredReceiptKeys {
  /** Whether the key ends with this process, so no other process has it. */
  readonly isEphemeral: boolean;
  readonly created: boolean;
  readonly warning: string | null;
}

/** Loads, checks and tests the signing keys. Throws a StartError if there are none that can be trusted. */
export function loadReceiptKeys(source: KeySource, nowMs: number): LoadedReceiptKeys {
  checkSource(source);
  const loaded = source.inline === undefined ? ringFromFile(source, nowMs) : ringFromText(source.inline);
  checkRing(loaded.ring, nowMs);
  return loaded;
}

/**
 * Checks the signing keys as a start would, and creates none. Returns those that exist. Throws a StartError if a start
 * would.
 */
export function checkReceiptKeys(source: KeySource, nowMs: number): StoredReceiptKeys | undefined {
  checkSource(source);
  const { inline } = source;
  const ring = inline === undefined ? readReceiptKeyRing(source, nowMs) : ringFromText(inline).ring;
  if (ring === undefined) checkMayCreate(source);
  else checkRing(ring, nowMs);
  return ring && { ring, path: inline === undefined ? keyFilePath(source) : null };
}

/**
 * Returns the private half of the oldest key that is not revoked, also if it signs no more. Throws a StartError if it is
 * missing.
 */
export function oldestSecret({ ring, path }: StoredReceiptKeys): KeyObject {
  const oldest = ring.find(({ isRevoked }) => !isRevoked);
  if (oldest?.signing) return oldest.signing.secret;
  if (oldest === undefined || path === null) return failStart('every receipt key is revoked');
  const signing = orFailStart("the oldest receipt key can't be used", () => readSigningKey(path, ring, oldest));
  if (signing !== null) return signing.secret;
  const file = secretPath(path, ring.indexOf(oldest) + 1);
  return failStart(
    `the secret of a fleet follows from the oldest receipt key that is not revoked, and ${file} is missing: restore it, or give all gateways the same SLOTGATE_FLEET_SECRET`,
  );
}

function checkSource({ file, inline }: KeySource): void {
  if (file !== undefined && inline !== undefined)
    failStart('RECEIPT_KEY and RECEIPT_KEY_FILE are both set; keep one of them');
}

function checkRing(ring: KeyRing, nowMs: number): void {
  if (activeKey(ring, nowMs) === undefined)
    failStart('every receipt key is revoked: create another with slotgate receipt key rotate');
  for (const key of ring.filter((key) => needsSecret(ring, key, nowMs))) {
    if (key.signing === null) failStart(`the secret of the receipt key ${key.kid} is missing`);
    if (!passesSigningTest(key.signing.secret))
      failStart('the receipt key failed its self-test: its signatures do not verify');
  }
}

/** Throws a StartError if there must be a key already, or can be none. */
function checkMayCreate({ file, production, stateDir }: KeySource): void {
  if (file !== undefined) failStart(`RECEIPT_KEY_FILE: there is no file ${file}`);
  if (production)
    failStart(
      `no receipt key: create one with 'slotgate receipt key create --data-dir ${stateDir}', or set RECEIPT_KEY_FILE`,
    );
  requireFolder(stateDir, true);
}

/** Returns the path of the key file. Throws a StartError if the key is not in a file. */
export function keyFilePath({ file, inline, stateDir }: KeySource): string {
  if (inline !== undefined) failStart('RECEIPT_KEY is set: change the key where that variable is set');
  return file ?? join(stateDir, FILE_NAME);
}

/** Reads the existing keys, fit to sign or not. Throws a StartError if they are damaged. */
export function readReceiptKeyRing(source: KeySource, nowMs: number): KeyRing | undefined {
  const path = keyFilePath(source);
  return orFailStart("the receipt key can't be used", () => readKeyRing(path, nowMs));
}

/** Creates the key unless there is one, or is a record of one whose secret was removed. Returns whether it did. Throws a StartError if it can't. */
export function createReceiptKey(source: KeySource): boolean {
  const path = keyFilePath(source);
  return orFailStart(`can't create the receipt key ${path}`, () => !hasHistory(path) && createKeyFile(path));
}

function ringFromText(text: string): LoadedReceiptKeys {
  const isEphemeral = text === 'ephemeral';
  const secret = isEphemeral
    ? generateKeyPairSync('ed25519').privateKey
    : orFailStart("RECEIPT_KEY can't be used", () => parsePrivateKey(text));
  const ring = singleKeyRing(signingKeyOf(secret));
  return { ring, path: null, isEphemeral, created: false, warning: isEphemeral ? EPHEMERAL : null };
}

function ringFromFile(source: KeySource, nowMs: number): LoadedReceiptKeys {
  const path = keyFilePath(source);
  const warning = SOLANA_WALLET_PATH.test(path) ? `${path} is a wallet: use a separate key for receipts` : null;
  const existing = readReceiptKeyRing(source, nowMs);
  if (existing !== undefined) {
    if (source.file === undefined) removeTempFiles(path);
    return { ring: existing, path, isEphemeral: false, created: false, warning };
  }
  checkMayCreate(source);
  const created = createReceiptKey(source);
  const ring = readReceiptKeyRing(source, nowMs) ?? failStart(`the receipt key ${path} disappeared during the start`);
  return { ring, path, isEphemeral: false, created, warning };
}

function failStart(message: string): never {
  throw new StartError(BAD_CONFIGURATION, message);
}

function orFailStart<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const reason = reasonOf(thrown);
    throw new StartError(BAD_CONFIGURATION, `${what}: ${reason}`, thrown);
  }
}

/** Signs a fixed tree head with Node's library and checks it with the library that verifiers use elsewhere. */
export function passesSigningTest(key: KeyObject): boolean {
  const treeHead = Buffer.from(treeHeadText(1, '0'.repeat(64)), 'latin1');
  const publicKey = publicBytesOf(key);
  return isStrongSignature(sign(null, treeHead, key), treeHead, publicKey);
}
