import { getHeapStatistics } from 'node:v8';
import type { Config } from '../../config/config-schema.ts';

/** The part of the heap that cached answers may use, at most. The rest is for what is read, signed and sent. */
const HEAP_SHARE = 1 / 3;

/**
 * Bounds the memory of cached answers by the heap that this process has, which Node sizes by the memory of the machine or
 * container, or `--max-old-space-size`: a cache that is larger would end the process. Calls `onFitted` for each that is.
 */
export function fitCaches(
  config: Config,
  onFitted: (setting: string, bytes: number) => void,
  heapBytes = getHeapStatistics().heap_size_limit,
): Config {
  const most = Math.floor(heapBytes * HEAP_SHARE);
  const fit = (setting: string, bytes: number): number => {
    if (bytes <= most) return bytes;
    onFitted(setting, most);
    return most;
  };
  const { cache, workers } = config;
  return {
    ...config,
    cache: { ...cache, bytes: fit('cache.bytes', cache.bytes) },
    ...(workers.count !== 0 && { workers: { ...workers, cacheBytes: fit('workers.cacheBytes', workers.cacheBytes) } }),
  };
}
