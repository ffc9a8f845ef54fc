import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../../shared/domain/start-error.ts';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';
import { withPidLock } from '../../../shared/runtime/files/pid-lock.ts';
import { readRegularFile } from '../../../shared/runtime/files/read-regular-file.ts';
import { replaceFile } from '../../../shared/runtime/files/replace-file.ts';
import { type ApiKeyRecord, formatKeyFile, parseVersionedKeys, type VersionedKeys } from './api-key-record.ts';

export const apiKeysPath = (state: string): string => join(state, 'keys.json');

export const fleetKeysPath = (state: string): string => join(state, 'fleet-keys.json');

/** A gateway that has no copy yet starts one with its own keys, which are valid until the fleet has some. */
export function prepareFleetKeys(state: string): string {
  const path = fleetKeysPath(state);
  const own = readApiKeys(apiKeysPath(state));
  if (own.length > 0 && !existsSync(path)) replaceFile(path, formatKeyFile(own, 0));
  return path;
}

/** Reads the issued keys; none if there is no file. Throws a StartError that names the file if it can't be read. */
export const readApiKeys = (path: string): readonly ApiKeyRecord[] => readVersionedKeys(path).keys;

/** Some 200,000 keys. */
const MAX_FILE_BYTES = 64 << 20;

export function readVersionedKeys(path: string): VersionedKeys {
  try {
    return parseVersionedKeys(readRegularFile(path, MAX_FILE_BYTES));
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return { version: 0, keys: [] };
    throw asStartError(path, thrown);
  }
}

function asStartError(path: string, thrown: unknown): StartError {
  if (thrown instanceof StartError) return thrown;
  return new StartError(1, `${path}: ${thrown instanceof Error ? thrown.message : thrown}`, thrown);
}

/** The attempts in 20 seconds. */
const LOCK_ATTEMPTS = 4000;

/** Changes wait for each other. When it resolves the change is on the disk; a kill before changes nothing. */
export async function updateApiKeys<T>(
  path: string,
  change: (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T },
): Promise<T> {
  try {
    return withPidLock(path, LOCK_ATTEMPTS, () => {
      const { keys, result } = change(readApiKeys(path));
      replaceFile(path, formatKeyFile(keys));
      return result;
    });
  } catch (thrown) {
    throw asStartError(path, thrown);
  }
}
