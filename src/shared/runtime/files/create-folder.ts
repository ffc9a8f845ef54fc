import { closeSync, fsyncSync, mkdirSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { tryOrUndefined } from '../../domain/try-or-undefined.ts';

/** For its owner alone, on the disk before anything is put into it. Git ignores it: it will contain keys. */
export function createFolder(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const ignored = join(first, '.gitignore');
  try {
    writeFileSync(ignored, '*\n');
  } catch (thrown) {
    rmSync(ignored, { force: true });
    for (let created = path; created.length >= first.length; created = dirname(created))
      tryOrUndefined(() => rmdirSync(created)); // unless another process has begun to use it; else it would stay without that file
    throw thrown;
  }
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
