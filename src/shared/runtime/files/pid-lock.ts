import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hardLink } from './create-file.ts';
import { createFolder } from './create-folder.ts';
import { hasErrorCode, ifPresent } from './error-code.ts';
import { hostIdentity } from './host-identity.ts';

/**
 * Acquires an exclusive lock on a file. The lock file next to it contains the owner's process id and host, so that the lock
 * of a killed process can be removed. One of another machine or container can't be checked, and counts as locked. Returns
 * the function that unlocks it, or the id of the owning process.
 */
export function acquirePidLock(path: string): (() => void) | number {
  const lockPath = `${path}.lock`;
  const random = randomBytes(8).toString('hex');
  const { machine, boot, processes } = hostIdentity();
  const ownerText = `${process.pid} ${machine} ${boot} ${processes} ${random}`;
  const ownPath = `${lockPath}.${random}`;
  createFolder(dirname(path));
  try {
    writeFileSync(ownPath, ownerText, { flag: 'wx', mode: 0o600 }); // on a full disk it leaves an empty file
    if (!hardLink(ownPath, lockPath)) {
      const holder = ifPresent(() => readFileSync(lockPath, 'utf8'));
      if (holder === undefined || mayBeAlive(holder)) return Number.parseInt(holder ?? '', 10) || 0;
      removeStaleLock(lockPath, holder, ownPath);
      if (!hardLink(ownPath, lockPath)) return 0;
    }
    return () => rmSync(lockPath, { force: true });
  } finally {
    rmSync(ownPath, { force: true });
  }
}

/** Another process may have done so before and own the lock now: then the lock is put back. */
function removeStaleLock(lockPath: string, holder: string, ownPath: string): void {
  const asidePath = `${ownPath}.aside`;
  ifPresent(() => {
    renameSync(lockPath, asidePath);
    if (readFileSync(asidePath, 'utf8') !== holder) hardLink(asidePath, lockPath);
  });
  rmSync(asidePath, { force: true });
}

function mayBeAlive(holder: string): boolean {
  const [pid = '', ...host] = holder.split(' ');
  if (host.length === 4) {
    const here = hostIdentity();
    const [machine, boot, processes] = host;
    if (boot !== here.boot) return machine !== here.machine; // it ended with the machine's last run
    if (processes !== here.processes) return true; // its process ids are not ours
  }
  return isAlive(Number.parseInt(pid, 10));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return hasErrorCode(thrown, 'EPERM');
  }
}

const PAUSE_MS = 5;

/** Between two attempts the process stands still. Throws if the file is locked at each attempt. */
export function withPidLock<T>(path: string, attempts: number, work: () => T): T {
  for (let attempt = 1; ; attempt++) {
    const lock = acquirePidLock(path);
    if (typeof lock === 'function') {
      try {
        return work();
      } finally {
        lock();
      }
    }
    if (attempt === attempts)
      throw new Error(`${path} is in use by process ${lock}; if it is not, remove ${path}.lock`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}
