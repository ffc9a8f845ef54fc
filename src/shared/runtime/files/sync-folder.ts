import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes the names in a folder to the disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
