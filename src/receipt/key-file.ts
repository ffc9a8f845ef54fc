import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const MAX_KEY_BYTES = 4096;
const OTHERS = 0o077; // permission bits of group and world

/**
 * The text of a key file, or undefined when there is none. Throws an Error that says what to do about a file that
 * others can read, or that isn't a plain file: a signing key must be nobody else's.
 */
export function readKeyFile(path: string): string | undefined {
  const fd = openKey(path);
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (process.platform !== 'win32' && (stat.mode & OTHERS) !== 0)
      throw new Error(`${path} has mode ${(stat.mode & 0o777).toString(8)}, others can use it: chmod 600 ${path}`);
    if (stat.size > MAX_KEY_BYTES) throw new Error(`${path} is over ${MAX_KEY_BYTES} bytes, that is no key`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Opens without following a symbolic link and without waiting for the writer of a pipe. */
function openKey(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    if (hasCode(thrown, 'ELOOP')) throw new Error(`${path} is a symbolic link; name the file itself`);
    throw thrown;
  }
}

/**
 * Makes a new key at `path` unless there is one. The file appears whole, on the disk and under its name, or not at
 * all: whoever comes second, or after a crash, finds one complete key. Tells whether the key there is the new one.
 */
export function createKeyFile(path: string): boolean {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  const fd = openSync(draft, 'wx', 0o600);
  try {
    fill(fd, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
    return linkNew(draft, path);
  } finally {
    unlinkSync(draft);
    sync(folder);
  }
}

/** Writes, and returns when it is on the disk. */
function fill(fd: number, text: string | Buffer): void {
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A link never replaces what is there, as a rename would. */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}

function sync(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;
