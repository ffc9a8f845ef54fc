/**
 * Returns the number of I/O events that the event loop has handled. Those of the turn under way count from its end: a turn
 * has one for each socket that had something to read.
 */
export const polledEvents = (): number => performance.nodeTiming.uvMetricsInfo.events;

/**
 * Starts to measure the CPU time of this thread, in milliseconds. Node counts that of one thread from 23.9 on. Before, it is
 * at most what all threads have used, and at most the time that has passed.
 */
export function startCpuStopwatch(): () => number {
  const startedMs = performance.now();
  const startedCpuMs = cpuTimeMs();
  return () => Math.min(performance.now() - startedMs, cpuTimeMs() - startedCpuMs);
}

function cpuTimeMs(): number {
  const { threadCpuUsage = process.cpuUsage } = process as { readonly threadCpuUsage?: typeof process.cpuUsage };
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1000;
}
