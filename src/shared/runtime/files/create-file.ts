import { linkSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from './create-folder.ts';
import { hasErrorCode } from './error-code.ts';
import { TEMP_SUFFIX, writeTempFile } from './temp-file.ts';

/** For its owner alone. It appears whole and on the disk, or not at all. False if the path exists. */
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

/** An attempt that is about to link one of these files of a crashed one is too late anyway, and learns so. */
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
