import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { hardLink } from './hard-link.ts';

/**
 * Lets one process at a time do something to a file. The lock lies beside it and names its holder, so that one who was
 * killed holds up nobody. Returns what unlocks it, or the holder's process id.
 */
export function acquirePidLock(path: string): (() => void) | number {
  const lockPath = `${path}.lock`;
  const ownerText = `${process.pid} ${randomBytes(8).toString('hex')}`;
  const ownPath = `${lockPath}.${ownerText.slice(-16)}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(ownPath, ownerText, { flag: 'wx', mode: 0o600 });
  try {
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

/** Removes the lock of a dead holder. Another may have done so meanwhile, and hold the lock now: then it is put back. */
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
