import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createFolder } from './create-folder.ts';
import { hasErrorCode } from './error-code.ts';

export const TEMP_SUFFIX = '.tmp';

/** With owner and mode of the file at its destination; a new one is for its owner alone. Returns its path. */
export function writeTempFile(path: string, text: string | Buffer): string {
  createFolder(dirname(path));
  const tempPath = `${path}.${randomBytes(8).toString('hex')}${TEMP_SUFFIX}`;
  const fd = openSync(tempPath, 'wx', 0o600);
  try {
    setOwner(fd, path);
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

/**
 * Gives a file the owner and mode of the one at `path`, so that its readers can go on. A file that root creates where there
 * was none belongs to the owner of the folder: root runs commands for a gateway that is another user.
 */
function setOwner(fd: number, path: string): void {
  const user = process.geteuid?.();
  const existing = statSync(path, { throwIfNoEntry: false });
  const model = existing ?? (user === 0 ? statSync(dirname(path)) : undefined);
  if (user === undefined || model === undefined) return;
  try {
    fchownSync(fd, model.uid, model.gid);
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'EPERM')) throw thrown;
    if (model.uid !== user)
      throw new Error(
        `${path} belongs to another user, who could not read it any more: run this as that user or as root`,
      );
  }
  if (existing !== undefined) fchmodSync(fd, existing.mode & 0o777);
}
