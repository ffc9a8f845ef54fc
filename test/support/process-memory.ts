import { readFileSync } from 'node:fs';
import { platform } from 'node:os';

/** Returns the resident memory of a process in bytes: what it is now, or its peak. NaN where the system has none. */
export function residentBytesOf(pid: number | undefined, which: 'now' | 'peak' = 'now'): number {
  if (platform() !== 'linux') return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const line = which === 'now' ? /^VmRSS:\s+(\d+) kB$/m : /^VmHWM:\s+(\d+) kB$/m;
  return 1024 * Number(line.exec(status)?.[1]);
}
