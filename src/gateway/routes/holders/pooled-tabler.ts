import type { Clock } from '../../../shared/domain/clock.ts';
import { ThreadPool } from '../../../shared/runtime/thread-pool.ts';
import type { TablingTasks } from '../routing/holder-tables.ts';

/** Makes tables in a thread, one at a time: a scan of 64 MiB takes a second or two. */
export const createHolderTabler = (clock: Clock): ThreadPool<TablingTasks> =>
  new ThreadPool({
    module: new URL('./tabling-thread.js', import.meta.url),
    clock,
    maxThreads: 1,
    maxHeapMb: 128,
    maxWaiting: 16,
    maxTaskMs: 10_000, // as long as a scan may take at a node
    idleMs: 10_000,
  });
