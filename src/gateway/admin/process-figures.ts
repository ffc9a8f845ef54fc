import { readdir } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { readMaxOpenFiles } from '../../shared/runtime/max-open-files.ts';

export async function readProcessFigures() {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    startSeconds: performance.timeOrigin / 1000, // in Unix time
    openFiles: await countOpenFiles(),
    maxFiles: readMaxOpenFiles(),
  };
}

const countOpenFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => undefined,
  );

/** Returns a function that measures the share of the time in which the event loop is busy, from one call to the next. */
export function readLoopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
