import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from './sync-folder.ts';

/**
 * Creates a folder for its owner alone unless it exists; the name of each new folder is on the disk before anything is
 * put into it. Git ignores a new one: it will contain keys, and may be in somebody's repository.
 */
export function createFolder(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  writeFileSync(join(first, '.gitignore'), '*\n');
  for (let created = path; created.length >= first.length; created = dirname(created)) syncFolder(dirname(created));
}
