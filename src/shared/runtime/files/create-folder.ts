import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** For its owner alone, on the disk before anything is put into it. Git ignores it: it will contain keys. */
export function createFolder(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  writeFileSync(join(first, '.gitignore'), '*\n');
  for (let created = path; created.length >= first.length; created = dirname(created)) syncFolder(dirname(created));
}

export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
