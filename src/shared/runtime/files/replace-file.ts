import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from './create-folder.ts';
import { writeTempFile } from './temp-file.ts';

/**
 * Writes a file at `path`, which keeps its owner and mode; a new one is for its owner alone. Readers, after a crash too, find the old text or the new one, whole;
 * when it returns the new one is on the disk.
 */
export function replaceFile(path: string, text: string | Buffer): void {
  const tempPath = writeTempFile(path, text);
  try {
    renameSync(tempPath, path);
  } catch (thrown) {
    rmSync(tempPath, { force: true });
    throw thrown;
  }
  syncFolder(dirname(path));
}
