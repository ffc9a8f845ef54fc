import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The end of the names of temporary files. */
export const TEMP_SUFFIX = '.tmp';

/**
 * Writes a text to a temporary file next to its destination, for its owner alone, and creates missing folders. Returns
 * its path when it is on the disk.
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

/** Flushes the names in a folder to the disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Creates a folder; the name of each new folder is on the disk before anything is put into it. */
function createFolder(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = path; created.length >= first.length; created = dirname(created)) syncFolder(dirname(created));
}
