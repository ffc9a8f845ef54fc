import { randomBytes } from 'node:crypto';
import { accessSync, constants, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquirePidLock } from '../../../shared/runtime/files/pid-lock.ts';

const PREFIX = 'slotgate-';

/** In memory where the system has such a place. Removes folders of killed gateways: each has a lock beside it. */
export function createMemoryFolder(): { readonly path: string; remove(): void } {
  const parent = memoryRoot();
  removeAbandoned(parent);
  const path = join(parent, `${PREFIX}${randomBytes(6).toString('hex')}`);
  const unlock = acquirePidLock(path);
  if (typeof unlock !== 'function') throw new Error(`${path} is in use`);
  mkdirSync(path, { mode: 0o700 }); // the socket in it accepts whoever reaches it
  const remove = (): void => {
    process.removeListener('exit', remove);
    rmSync(path, { recursive: true, force: true });
    unlock();
  };
  process.on('exit', remove); // a start that is ended closes nothing
  return { path, remove };
}

function removeAbandoned(parent: string): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(parent);
  } catch {} // a folder that may only be written to
  for (const name of names) {
    if (!/^slotgate-[0-9a-f]{12}\.lock$/.test(name)) continue;
    const path = join(parent, name.slice(0, -'.lock'.length));
    try {
      const lock = lstatSync(`${path}.lock`);
      if (!lock.isFile() || lock.uid !== process.getuid?.()) continue; // whoever made it could hold up this process
      const unlock = acquirePidLock(path);
      if (typeof unlock !== 'function') continue; // its gateway lives, or runs where it can't be seen
      rmSync(path, { recursive: true, force: true });
      unlock();
    } catch {} // it is gone
  }
}

function memoryRoot(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
