import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { hardLink } from './hard-link.ts';
import { syncFolder, TEMP_SUFFIX, writeTempFile } from './temp-file.ts';

/**
 * Makes a file that only we can read, unless its name is taken. It appears whole, on the disk and under its name, or
 * not at all: whoever comes second, or after a crash, finds one complete file. Tells whether it is the new one.
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
 * Removes what a crash left of the making of a file that is there by now. Who is about to link one of these has come
 * too late anyway, and is told so.
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
    if (hasErrorCode(thrown, 'ENOENT')) return false; // another was faster, and has dropped our draft
    throw thrown;
  }
}
