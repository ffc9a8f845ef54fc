import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** What the names of drafts end in. */
export const TEMP_SUFFIX = '.tmp';

/**
 * Writes a text beside where it is to be, for its owner alone, and makes the folders on the way there. Returns the
 * draft's path, when it is on the disk.
 */
export function writeTempFile(path: string, text: string | Buffer): string {
  createFolder(dirname(path));
  const tempPath = `${path}.${randomBytes(8).toString('hex')}${TEMP_SUFFIX}`;
  const fd = openSync(tempPath, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } catch (thrown) {
    rmSync(tempPath, { force: true });
    throw thrown;
  } finally {
    closeSync(fd);
  }
  return tempPath;
}

/** Returns when the names in a folder are on the disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Each new folder is on the disk under its name before anything is put into it. */
function createFolder(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = path; created.length >= first.length; created = dirname(created)) syncFolder(dirname(created));
}
