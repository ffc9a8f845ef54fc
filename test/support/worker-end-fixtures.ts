import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { WorkerFigures } from '../../src/gateway/admin/worker-figures.ts';
import type { Cache } from '../../src/gateway/cache/cache.ts';
import { MemoryStore } from '../../src/gateway/fleet/counters/memory-store.ts';
import { RemoteStore } from '../../src/gateway/fleet/counters/remote-store.ts';
import type { PipelineService } from '../../src/gateway/fleet/workers/pipeline-end.ts';
import { WorkerEnd, type WorkerEndOptions } from '../../src/gateway/fleet/workers/worker-end.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';

export const MAX_STALE_MS = 60_000;

/** Creates a folder with a short path: that of a socket has 107 characters at most. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const NO_SOURCE = {
  subscribe() {
    throw new Error('nothing is followed');
  },
};

/** Creates what a pipeline process does for workers: nothing but what is given. */
export const serviceOver = (cache: Cache, others: Partial<PipelineService> = {}): PipelineService => ({
  started: Promise.resolve(),
  cache,
  guard: { grantClaim: () => 'observed', advance: () => {} },
  sealer: { invalidUntilMs: Number.NEGATIVE_INFINITY },
  liveAccounts: NO_SOURCE,
  liveLogs: NO_SOURCE,
  counterStore: new MemoryStore(100, systemClock),
  figures: new WorkerFigures(),
  vitals: () => ({
    nodes: [],
    isFailing: false,
    slotTimeMs: 400,
    startupProblem: null,
    problems: [],
    genesisHash: null,
    apiVersion: null,
    embedded: null,
  }),
  read: () => Promise.reject(new Error('nothing is read')),
  readEvents: async () => undefined,
  answerRpc: () => Promise.reject(new Error('nothing is called')),
  ...others,
});

/** Creates a worker's end over the log and the socket in a folder. */
export const openWorker = (folder: string, options: Partial<WorkerEndOptions> = {}): WorkerEnd =>
  new WorkerEnd({
    id: 0,
    folder,
    clock: systemClock,
    cache: { clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 },
    counterStore: new RemoteStore(1),
    waitMs: 1000,
    onLiveAnswer: () => {},
    onReceiptKeys: () => {},
    onOvertaken: () => {
      throw new Error('overtaken');
    },
    ...options,
  });
