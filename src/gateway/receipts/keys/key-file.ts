import { generateKeyPairSync } from 'node:crypto';
import { constants } from 'node:fs';
import { createFile } from '../../../shared/runtime/files/create-file.ts';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';
import { readRegularFile } from '../../../shared/runtime/files/read-regular-file.ts';

const MAX_KEY_BYTES = 4096;
const OTHERS_PERMISSIONS = 0o077; // permission bits of group and others

/**
 * Reads a key file; returns undefined if there is none. Throws an Error that says what to do about a file that others
 * can read, or that is not a regular file: a signing key must be private.
 */
export function readKeyFile(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_KEY_BYTES, constants.O_NOFOLLOW ?? 0, ({ mode }) => {
      if (process.platform !== 'win32' && (mode & OTHERS_PERMISSIONS) !== 0)
        throw new Error(`${path} has mode ${(mode & 0o777).toString(8)}, others can use it: chmod 600 ${path}`);
    });
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return undefined;
    if (hasErrorCode(thrown, 'ELOOP')) throw new Error(`${path} is a symbolic link; name the file itself`);
    throw thrown;
  }
}

/** Creates a key at `path` unless there is one. Returns whether it did. */
export const createKeyFile = (path: string): boolean =>
  createFile(path, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
