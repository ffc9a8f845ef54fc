import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/**
 * Reads a file that this program writes. Throws for what is none, without reading it: a pipe would hold the process until
 * somebody writes to it, and a damaged file may be longer than the memory. `flags` are of open(2).
 */
export function readRegularFile(path: string, maxBytes: number, flags = 0, check?: (stats: Stats) => void): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    check?.(stats);
    if (stats.size > maxBytes) throw new Error(`${path} is over ${maxBytes} bytes, which is too large`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
