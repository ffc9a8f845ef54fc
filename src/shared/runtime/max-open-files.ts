import { readFileSync } from 'node:fs';
import { tryOrUndefined } from '../domain/try-or-undefined.ts';

/** The files and connections that callers leave to the process itself, where it may have twice the number open. */
const OWN_FILES = 128;

/** Returns the number of connections that callers may have: at least half of the files that may be open. */
export const maxConnectionsOf = (maxOpenFiles = Number.POSITIVE_INFINITY): number =>
  Math.max(maxOpenFiles - OWN_FILES, Math.floor(maxOpenFiles / 2));

/** Returns how many files and connections this process may have open; undefined where the system has no /proc. */
export function readMaxOpenFiles(): number | undefined {
  const [, soft] =
    /^Max open files\s+(\S+)/m.exec(tryOrUndefined(() => readFileSync('/proc/self/limits', 'utf8')) ?? '') ?? [];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
