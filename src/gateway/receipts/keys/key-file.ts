import { generateKeyPairSync } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { createFile } from '../../../shared/runtime/files/create-file.ts';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';

const MAX_KEY_BYTES = 4096;
const OTHERS_PERMISSIONS = 0o077; // permission bits of group and others

/**
 * Reads a key file; returns undefined if there is none. Throws an Error that says what to do about a file that others
 * can read, or that is not a regular file: a signing key must be private.
 */
export function readKeyFile(path: string): string | undefined {
  const fd = openKeyFile(path);
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (process.platform !== 'win32' && (stat.mode & OTHERS_PERMISSIONS) !== 0)
      throw new Error(`${path} has mode ${(stat.mode & 0o777).toString(8)}, others can use it: chmod 600 ${path}`);
    if (stat.size > MAX_KEY_BYTES) throw new Error(`${path} is over ${MAX_KEY_BYTES} bytes, too large for a key`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Opens without following a symbolic link and without blocking on a pipe. */
function openKeyFile(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return undefined;
    if (hasErrorCode(thrown, 'ELOOP')) throw new Error(`${path} is a symbolic link; name the file itself`);
    throw thrown;
  }
}

/** Creates a key at `path` unless there is one. Returns whether it did. */
export const createKeyFile = (path: string): boolean =>
  createFile(path, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
