import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../domain/start-error.ts';
import { hasCode } from '../../runtime/files/errno.ts';
import { lockFile } from '../../runtime/files/file-lock.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { type KeyRecord, parseKeys, printKeys } from './key-record.ts';

/** Where the keys of a state folder are kept. */
export const keysPath = (state: string): string => join(state, 'keys.json');

/** The issued keys; none where there is no file. Throws a StartError that names the file when it can't be read. */
export function readKeys(path: string): readonly KeyRecord[] {
  try {
    return parseKeys(readFileSync(path, 'utf8'));
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw told(path, thrown);
  }
}

const told = (path: string, thrown: unknown): StartError =>
  thrown instanceof StartError
    ? thrown
    : new StartError(1, `${path}: ${thrown instanceof Error ? thrown.message : thrown}`, thrown);

const TRIES = 1000;
const RETRY_MS = 20;

/**
 * Makes a change to the issued keys; those who do so at the same time wait for each other. When it resolves the change
 * is on the disk, and a kill before that leaves the keys as they were. Rejects with a StartError.
 */
export async function changeKeys<T>(
  path: string,
  change: (keys: readonly KeyRecord[]) => { readonly keys: readonly KeyRecord[]; readonly result: T },
): Promise<T> {
  const unlock = await waitForLock(path).catch((thrown: unknown) => {
    throw told(path, thrown);
  });
  try {
    const { keys, result } = change(readKeys(path));
    replaceFile(path, printKeys(keys));
    return result;
  } catch (thrown) {
    throw told(path, thrown);
  } finally {
    unlock();
  }
}

async function waitForLock(path: string): Promise<() => void> {
  for (let left = TRIES; ; left--) {
    const lock = lockFile(path);
    if (typeof lock === 'function') return lock;
    if (left === 0)
      throw new StartError(1, `${path} is being changed by process ${lock}; if it is not, remove ${path}.lock`);
    await sleep(RETRY_MS);
  }
}
