import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './errno.ts';
import { link } from './link.ts';

/**
 * Lets one process at a time do something to a file. The lock lies beside it and names its holder, so that one who was
 * killed holds up nobody. Returns what unlocks it, or the holder's process id.
 */
export function lockFile(path: string): (() => void) | number {
  const lock = `${path}.lock`;
  const mark = `${process.pid} ${randomBytes(8).toString('hex')}`;
  const own = `${lock}.${mark.slice(-16)}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(own, mark, { flag: 'wx', mode: 0o600 });
  try {
    if (!link(own, lock)) {
      const holder = read(lock);
      const pid = Number.parseInt(holder ?? '', 10);
      if (holder === undefined || isAlive(pid)) return pid || 0;
      takeAway(lock, holder, own);
      if (!link(own, lock)) return 0;
    }
    return () => rmSync(lock, { force: true });
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the lock of a dead holder. Another may have done so meanwhile, and hold the lock now: then it is put back. */
function takeAway(lock: string, holder: string, own: string): void {
  const aside = `${own}.aside`;
  try {
    renameSync(lock, aside);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return;
    throw thrown;
  }
  if (read(aside) !== holder) link(aside, lock);
  rmSync(aside, { force: true });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return hasCode(thrown, 'EPERM');
  }
}
