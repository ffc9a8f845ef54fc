import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { StartError } from '../../domain/start-error.ts';
import { dropDrafts } from '../../runtime/files/new-file.ts';
import { signingKey } from '../sign.ts';
import { createKeyFile } from './key-file.ts';
import { isUsed, readKeyRing, ringOf } from './key-folder.ts';
import { parseKey } from './key-format.ts';
import { activeKey, type KeyRing } from './key-ring.ts';
import type { KeySource } from './key-source.ts';
import { signsTruly } from './self-test.ts';

const FILE_NAME = 'receipt-key.pem';
const WALLET = /[\\/]\.config[\\/]solana[\\/]id\.json$/;
const BAD_CONFIGURATION = 78;

/** The keys that receipts are signed with, one after the other. */
export interface ReceiptKeyRing {
  /** Those that sign or will sign have their secrets. */
  readonly ring: KeyRing;
  /** The file of the first; null when it was given inline or is ephemeral, and so is the only one. */
  readonly path: string | null;
  /** True of a key that ends with this process, which nobody else can have. */
  readonly isEphemeral: boolean;
  /** True when this start made it, which is worth one line in the log. */
  readonly created: boolean;
  /** What the operator should know, or null. */
  readonly warning: string | null;
}

/** Finds, checks and tries out the signing keys. Throws StartError when there are none that can be trusted. */
export function openReceiptKeys(source: KeySource, nowMs: number): ReceiptKeyRing {
  const { file, inline } = source;
  if (file !== undefined && inline !== undefined)
    refuse('RECEIPT_KEY and RECEIPT_KEY_FILE are both set; keep one of them');
  const found = inline === undefined ? fromFile(source, nowMs) : fromText(inline);
  const { ring } = found;
  if (activeKey(ring, nowMs) === undefined)
    refuse('every receipt key is revoked: make another with slotgate receipt key rotate');
  for (const key of ring.filter((key) => isUsed(ring, key, nowMs))) {
    if (key.signing === null) refuse(`the secret of the receipt key ${key.kid} is gone`);
    if (!signsTruly(key.signing.secret)) refuse('the receipt key failed its self-test: its signatures do not verify');
  }
  return found;
}

/** Where the key file is or would be. Throws StartError when the key is none. */
export function keyFileOf({ file, inline, stateDir }: KeySource): string {
  if (inline !== undefined) refuse('RECEIPT_KEY is set: such a key is kept, and changed, by who sets it');
  return file ?? join(stateDir, FILE_NAME);
}

/** Reads the keys that there are, fit to sign or not. Throws StartError for what is damaged. */
export function readReceiptKeys(source: KeySource, nowMs: number): KeyRing | undefined {
  const path = keyFileOf(source);
  return orRefuse('the receipt key can not be used', () => readKeyRing(path, nowMs));
}

/** Makes the key unless there is one. Tells whether it did. Throws StartError when it can't. */
export function createReceiptKey(source: KeySource): boolean {
  const path = keyFileOf(source);
  return orRefuse(`can not make the receipt key ${path}`, () => createKeyFile(path));
}

function fromText(text: string): ReceiptKeyRing {
  const isEphemeral = text === 'ephemeral';
  const kept = { path: null, isEphemeral, created: false };
  if (!isEphemeral) {
    const secret = orRefuse('RECEIPT_KEY can not be used', () => parseKey(text));
    return { ...kept, ring: ringOf(signingKey(secret)), warning: null };
  }
  const warning = 'the receipt key is ephemeral: it ends with this process, and nobody can check its receipts later';
  return { ...kept, ring: ringOf(signingKey(generateKeyPairSync('ed25519').privateKey)), warning };
}

function fromFile(source: KeySource, nowMs: number): ReceiptKeyRing {
  const path = keyFileOf(source);
  const warning = WALLET.test(path) ? `${path} is a wallet: make a key of its own for receipts` : null;
  const kept = readReceiptKeys(source, nowMs);
  if (kept !== undefined) {
    if (source.file === undefined) dropDrafts(path);
    return { ring: kept, path, isEphemeral: false, created: false, warning };
  }
  if (source.file !== undefined) refuse(`RECEIPT_KEY_FILE: there is no file ${path}`);
  if (source.production)
    refuse(
      `no receipt key: make one with 'slotgate receipt key create --state ${source.stateDir}', or set RECEIPT_KEY_FILE`,
    );
  const created = createReceiptKey(source);
  const ring = readReceiptKeys(source, nowMs) ?? refuse(`the receipt key ${path} went away while starting`);
  return { ring, path, isEphemeral: false, created, warning };
}

function refuse(message: string): never {
  throw new StartError(BAD_CONFIGURATION, message);
}

function orRefuse<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new StartError(BAD_CONFIGURATION, `${what}: ${reason}`, thrown);
  }
}
