import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder, writeTempFile } from './temp-file.ts';

/**
 * Puts a file of this text at `path`, for its owner alone. Whoever looks, after a crash too, finds the old text or the
 * new one, whole; when it returns the new one is on the disk.
 */
export function replaceFile(path: string, text: string): void {
  const tempPath = writeTempFile(path, text);
  try {
    renameSync(tempPath, path);
  } catch (thrown) {
    rmSync(tempPath, { force: true });
    throw thrown;
  }
  syncFolder(dirname(path));
}
