import { linkSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from './create-folder.ts';
import { hasErrorCode, ifPresent } from './error-code.ts';
import { TEMP_SUFFIX, writeTempFile } from './temp-file.ts';

/** For its owner alone. It appears whole and on the disk, or not at all. False if the path exists. */
export function createFile(path: string, text: string | Buffer): boolean {
  const tempPath = writeTempFile(path, text);
  try {
    const isCreated = ifPresent(() => hardLink(tempPath, path)) === true; // another process may have been faster and have removed it
    removeTempFiles(path);
    return isCreated;
  } finally {
    rmSync(tempPath, { force: true });
    syncFolder(dirname(path));
  }
}

/** An attempt that is about to link one of these files of a crashed one is too late anyway, and learns so. */
export function removeTempFiles(path: string): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.endsWith(TEMP_SUFFIX)) rmSync(join(folder, name), { force: true });
  }
}

/** The name appears with the whole content or not at all. False if it is in use, which a rename would replace. */
export function hardLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if (hasErrorCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}
