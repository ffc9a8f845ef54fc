import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { hardLink } from './hard-link.ts';

/**
 * Takes an exclusive lock on a file. The lock file next to it contains the owner's process id, so that the lock of a
 * killed process can be removed. Returns the function that unlocks it, or the id of the owning process.
 */
export function acquirePidLock(path: string): (() => void) | number {
  const lockPath = `${path}.lock`;
  const ownerText = `${process.pid} ${randomBytes(8).toString('hex')}`;
  const ownPath = `${lockPath}.${ownerText.slice(-16)}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(ownPath, ownerText, { flag: 'wx', mode: 0o600 }); // on a full disk it leaves an empty file
    if (!hardLink(ownPath, lockPath)) {
      const holder = readIfPresent(lockPath);
      const pid = Number.parseInt(holder ?? '', 10);
      if (holder === undefined || isAlive(pid)) return pid || 0;
      removeStaleLock(lockPath, holder, ownPath);
      if (!hardLink(ownPath, lockPath)) return 0;
    }
    return () => rmSync(lockPath, { force: true });
  } finally {
    rmSync(ownPath, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Another process may have done so meanwhile and own the lock now: then it is put
 * back.
 */
function removeStaleLock(lockPath: string, holder: string, ownPath: string): void {
  const asidePath = `${ownPath}.aside`;
  try {
    renameSync(lockPath, asidePath);
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return;
    throw thrown;
  }
  if (readIfPresent(asidePath) !== holder) hardLink(asidePath, lockPath);
  rmSync(asidePath, { force: true });
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return hasErrorCode(thrown, 'EPERM');
  }
}
