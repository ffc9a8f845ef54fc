import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../domain/start-error.ts';
import { hasErrorCode } from '../../runtime/files/error-code.ts';
import { acquirePidLock } from '../../runtime/files/pid-lock.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { type ApiKeyRecord, formatKeyFile, parseVersionedKeys, type VersionedKeys } from './api-key-record.ts';

/** Returns the path of the key file in a state folder. */
export const apiKeysPath = (state: string): string => join(state, 'keys.json');

/** Returns the path of the copy of a fleet's keys in a state folder. */
export const fleetKeysPath = (state: string): string => join(state, 'fleet-keys.json');

/**
 * Returns the path of the copy of a fleet's keys, after a start with it: a gateway that has none yet goes on with the keys
 * of its own, until the fleet has some.
 */
export function prepareFleetKeys(state: string): string {
  const path = fleetKeysPath(state);
  const own = readApiKeys(apiKeysPath(state));
  if (own.length > 0 && !existsSync(path)) replaceFile(path, formatKeyFile(own, 0));
  return path;
}

/** Reads the issued keys; none if there is no file. Throws a StartError that names the file if it can't be read. */
export const readApiKeys = (path: string): readonly ApiKeyRecord[] => readVersionedKeys(path).keys;

/** Reads the issued keys as {@link readApiKeys} does, with their version. */
export function readVersionedKeys(path: string): VersionedKeys {
  try {
    return parseVersionedKeys(readFileSync(path, 'utf8'));
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return { version: 0, keys: [] };
    throw asStartError(path, thrown);
  }
}

/** Replaces the copy of a fleet's keys. */
export const writeFleetKeys = (path: string, { version, keys }: VersionedKeys): void =>
  replaceFile(path, formatKeyFile(keys, version));

const asStartError = (path: string, thrown: unknown): StartError =>
  thrown instanceof StartError
    ? thrown
    : new StartError(1, `${path}: ${thrown instanceof Error ? thrown.message : thrown}`, thrown);

const LOCK_ATTEMPTS = 1000;
const RETRY_MS = 20;

/**
 * Applies a change to the issued keys; concurrent changes wait for each other. When it resolves the change is on the
 * disk, and a kill before that leaves the keys as they were. Rejects with a StartError.
 */
export async function updateApiKeys<T>(
  path: string,
  change: (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T },
): Promise<T> {
  const unlock = await waitForLock(path).catch((thrown: unknown) => {
    throw asStartError(path, thrown);
  });
  try {
    const { keys, result } = change(readApiKeys(path));
    replaceFile(path, formatKeyFile(keys));
    return result;
  } catch (thrown) {
    throw asStartError(path, thrown);
  } finally {
    unlock();
  }
}

async function waitForLock(path: string): Promise<() => void> {
  for (let attemptsLeft = LOCK_ATTEMPTS; ; attemptsLeft--) {
    const lock = acquirePidLock(path);
    if (typeof lock === 'function') return lock;
    if (attemptsLeft === 0)
      throw new StartError(1, `${path} is being changed by process ${lock}; if it is not, remove ${path}.lock`);
    await sleep(RETRY_MS);
  }
}
