import { acquirePidLock } from './pid-lock.ts';

const PAUSE_MS = 5;

/**
 * Does work while no other process has the lock of a file; between two attempts the process stands still. Throws if the file
 * is locked at each attempt.
 */
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
