import type { Clock } from '../../../shared/domain/clock.ts';
import { ThreadPool } from '../../../shared/runtime/thread-pool.ts';
import type { HolderTabler } from '../routing/holder-tables.ts';
import type { Requester } from '../routing/transaction-decoder.ts';
import type { tablingTasks } from './tabling-tasks.ts';

/** Makes tables in a thread, one at a time: a scan of 64 MiB takes a second or two. */
export class PooledTabler implements HolderTabler {
  readonly #pool: ThreadPool<typeof tablingTasks>;

  constructor(clock: Clock) {
    this.#pool = new ThreadPool({
      module: new URL('./tabling-thread.js', import.meta.url),
      clock,
      maxThreads: 1,
      maxHeapMb: 128,
      maxWaiting: 16,
      maxTaskMs: 10_000, // as long as a scan may take at a node
      idleMs: 10_000,
    });
  }

  packHolders(lists: readonly Buffer[], requester: Requester): Promise<SharedArrayBuffer> {
    return this.#pool.run('packHolders', [...lists], requester);
  }

  packOwners(holders: SharedArrayBuffer, requester: Requester): Promise<SharedArrayBuffer> {
    return this.#pool.run('packOwners', [holders], requester);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
