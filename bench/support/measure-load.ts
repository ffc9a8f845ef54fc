import type { Sample } from './bench.ts';
import { type Load, type LoadResult, runLoad } from './load.ts';
import { cpuSeconds, type ServedProcess } from './server-process.ts';

/** Most seconds of load before the first round: what is hot is compiled by then. */
const WARM_UP_SECONDS = 2;

/** Makes load on a server, and measures the CPU time that the server used for it. */
export async function measureLoad(server: ServedProcess, load: Load): Promise<Sample & LoadResult> {
  const before = cpuSeconds(server);
  const result = await runLoad(server.url, load);
  return { ...result, cpuUs: ((cpuSeconds(server) - before) / result.requests) * 1e6 };
}

/** Makes a load for as long as it is meant to last, at most {@link WARM_UP_SECONDS}. */
export async function warmUp(server: ServedProcess, load: Load): Promise<void> {
  await runLoad(server.url, { ...load, seconds: Math.min(load.seconds ?? WARM_UP_SECONDS, WARM_UP_SECONDS) });
}
