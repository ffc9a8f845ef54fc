import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { StartError } from '../domain/start-error.ts';
import { createKeyFile, readKeyFile } from './key-file.ts';
import { parseKey } from './key-format.ts';
import { signsTruly } from './self-test.ts';

const FILE_NAME = 'receipt-key.pem';
const WALLET = /[\\/]\.config[\\/]solana[\\/]id\.json$/;
const BAD_CONFIGURATION = 78;

/** Where the signing key may come from. At most one of `file` and `inline` may be named. */
export interface KeySource {
  /** `RECEIPT_KEY_FILE`: path of a key. */
  readonly file?: string | undefined;
  /** `RECEIPT_KEY`: the key itself, or the word `ephemeral` for one that is thrown away. */
  readonly inline?: string | undefined;
  /** The folder that holds the key when none is named. */
  readonly stateDir: string;
  /** In production a key is never made up: it has to be there. */
  readonly production: boolean;
}

/** The key that receipts are signed with. */
export interface ReceiptKey {
  readonly key: KeyObject;
  /** Where it was read from; null when it was given inline or is ephemeral. */
  readonly path: string | null;
  /** True when this start made it, which is worth one line in the log. */
  readonly created: boolean;
  /** What the operator should know, or null. */
  readonly warning: string | null;
}

/** Finds, checks and tries out the signing key. Throws StartError when there is none that can be trusted. */
export function openReceiptKey(source: KeySource): ReceiptKey {
  const { file, inline } = source;
  if (file !== undefined && inline !== undefined)
    throw new StartError(BAD_CONFIGURATION, 'RECEIPT_KEY and RECEIPT_KEY_FILE are both set; keep one of them');
  const found = inline !== undefined ? fromText(inline) : file !== undefined ? fromFile(file) : fromState(source);
  if (!signsTruly(found.key))
    throw new StartError(BAD_CONFIGURATION, 'the receipt key failed its self-test: its signatures do not verify');
  return found;
}

function fromText(text: string): ReceiptKey {
  const kept = { path: null, created: false };
  if (text !== 'ephemeral')
    return { ...kept, key: orRefuse('RECEIPT_KEY can not be used', () => parseKey(text)), warning: null };
  const warning = 'the receipt key is ephemeral: it ends with this process, and nobody can check its receipts later';
  return { ...kept, key: generateKeyPairSync('ed25519').privateKey, warning };
}

function fromFile(path: string): ReceiptKey {
  const key = readKey(path);
  if (key === undefined) throw new StartError(BAD_CONFIGURATION, `RECEIPT_KEY_FILE: there is no file ${path}`);
  const warning = WALLET.test(path) ? `${path} is a wallet: make a key of its own for receipts` : null;
  return { key, path, created: false, warning };
}

function fromState({ stateDir, production }: KeySource): ReceiptKey {
  const path = join(stateDir, FILE_NAME);
  const existing = readKey(path);
  if (existing !== undefined) return { key: existing, path, created: false, warning: null };
  if (production)
    throw new StartError(
      BAD_CONFIGURATION,
      `no receipt key: make one with (umask 077 && mkdir -p ${stateDir} && openssl genpkey -algorithm ed25519 -out ${path}), ` +
        'or set RECEIPT_KEY_FILE',
    );
  const created = orRefuse(`can not make a receipt key in ${stateDir}`, () => createKeyFile(path));
  const key = readKey(path);
  if (key === undefined) throw new StartError(BAD_CONFIGURATION, `the receipt key ${path} went away while starting`);
  return { key, path, created, warning: null };
}

const readKey = (path: string): KeyObject | undefined =>
  orRefuse('the receipt key can not be used', () => {
    const text = readKeyFile(path);
    return text === undefined ? undefined : parseKeyOf(path, text);
  });

function parseKeyOf(path: string, text: string): KeyObject {
  try {
    return parseKey(text);
  } catch (thrown) {
    throw new Error(`${path}: ${messageOf(thrown)}`);
  }
}

function orRefuse<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new StartError(BAD_CONFIGURATION, `${what}: ${messageOf(thrown)}`, thrown);
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
