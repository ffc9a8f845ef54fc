import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { hardLink } from './hard-link.ts';
import { syncFolder } from './sync-folder.ts';
import { TEMP_SUFFIX, writeTempFile } from './temp-file.ts';

/**
 * Creates a file that only its owner can read, unless the path exists. The file appears whole and on the disk, or not
 * at all: a second or later caller finds one complete file. Returns whether this call created it.
 */
export function createFile(path: string, text: string | Buffer): boolean {
  const tempPath = writeTempFile(path, text);
  try {
    const isCreated = linkTempFile(tempPath, path);
    removeTempFiles(path);
    return isCreated;
  } finally {
    rmSync(tempPath, { force: true });
    syncFolder(dirname(path));
  }
}

/**
 * Removes the temporary files of crashed attempts to create an existing file. An attempt that is about to link one of
 * these is too late anyway and learns so.
 */
export function removeTempFiles(path: string): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.endsWith(TEMP_SUFFIX)) rmSync(join(folder, name), { force: true });
  }
}

function linkTempFile(tempPath: string, path: string): boolean {
  try {
    return hardLink(tempPath, path);
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return false; // another process was faster and removed our temporary file
    throw thrown;
  }
}
