import { readdir, readFile } from 'node:fs/promises';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import process from 'node:process';

/** What the system tells of this process. */
export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** Unix seconds. */
  readonly startSeconds: number;
  /** Undefined where the system has no /proc. */
  readonly openFiles: number | undefined;
  readonly maxFiles: number | undefined;
}

/** Reads the figures of this process. */
export async function readProcessFigures(): Promise<ProcessFigures> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const [openFiles, maxFiles] = await Promise.all([countOpenFiles(), readMaxFiles()]);
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    startSeconds: performance.timeOrigin / 1000,
    openFiles,
    maxFiles,
  };
}

const countOpenFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => undefined,
  );

const readMaxFiles = async (): Promise<number | undefined> => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
};

/** Measures the share of the time in which the event loop is busy, from one call to the next. */
export class LoopUtilization {
  #last: EventLoopUtilization = performance.eventLoopUtilization();

  /** Returns the share since the last call, or since the start. */
  take(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    return utilization;
  }
}
