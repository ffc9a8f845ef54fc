import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';

/** The space for new objects, as `npm start` sets it. */
export const NODE_OPTIONS = ['--max-semi-space-size=32'];

/** Returns the resident memory of a process in bytes: what it is now, or its peak. NaN where the system has none. */
export function residentBytesOf(pid: number | undefined, which: 'now' | 'peak' = 'now'): number {
  if (platform() !== 'linux') return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const line = which === 'now' ? /^VmRSS:\s+(\d+) kB$/m : /^VmHWM:\s+(\d+) kB$/m;
  return 1024 * Number(line.exec(status)?.[1]);
}

/** Returns the CPU seconds so far of the threads of a process with such names. Default: of all. NaN where the system has none. */
export function cpuSecondsOf(pid: number, names = /^/): number {
  if (platform() !== 'linux') return Number.NaN;
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  const counted = threads.filter((thread) => names.test(textOf(`${thread}/comm`)));
  if (counted.length === 0) throw new Error(`no thread is named like ${names}`);
  return counted.reduce((sum, thread) => sum + Number(textOf(`${thread}/schedstat`).split(' ')[0]), 0) / 1e9;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // the thread has ended
  }
}
