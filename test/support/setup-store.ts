import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { SetupStore } from '../../src/localnet/traffic/stored-setup.ts';

const dist = new URL('../../', import.meta.url); // from dist/test/support

let folder: URL | undefined;

/**
 * Setups of local clusters as files below the build, shared by all tests that run on it. Recompiled code has another
 * folder; who fills that first removes those before it.
 */
export const setupStore: SetupStore = {
  read(key) {
    folder ??= folderOfBuild();
    try {
      return readFileSync(new URL(key, folder));
    } catch {
      return undefined; // nobody has stored it yet
    }
  },
  write(key, setup) {
    folder ??= folderOfBuild();
    if (mkdirSync(folder, { recursive: true }) !== undefined) removeOthers(folder);
    const unfinished = new URL(`${key}.${process.pid}`, folder);
    writeFileSync(unfinished, setup);
    renameSync(unfinished, new URL(key, folder)); // other processes see the whole file or none
  },
};

function removeOthers(folder: URL): void {
  const parent = new URL('../', folder);
  for (const name of readdirSync(parent)) {
    const other = new URL(`${name}/`, parent);
    if (other.href !== folder.href) rmSync(other, { recursive: true, force: true });
  }
}

/** Returns a folder whose name follows from the files that a setup is made by, and from when they were written. */
function folderOfBuild(): URL {
  const hash = createHash('sha256');
  const stamp = (file: URL): void => {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file.pathname} ${mtimeMs} ${size}\n`);
  };
  stamp(new URL('../package-lock.json', dist));
  for (const name of ['domain', 'localnet', 'solana']) {
    const part = new URL(`src/${name}/`, dist);
    const files = readdirSync(part, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
    for (const file of files.sort()) stamp(new URL(file, part));
  }
  return new URL(`localnet-setups/${hash.digest('hex')}/`, dist);
}
