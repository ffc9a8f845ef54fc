import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { MemoryQuotaLedger } from '../../../../src/access/quota/memory-quota-ledger.ts';
import { SeatLedger } from '../../../../src/access/quota/seat-ledger.ts';
import { WorkerFigures } from '../../../../src/admin/worker-figures.ts';
import type { Cache } from '../../../../src/cache/cache.ts';
import type { PipelineService } from '../../../../src/fleet/workers/pipeline-end.ts';
import { RemoteQuotaLedger } from '../../../../src/fleet/workers/remote-quota-ledger.ts';
import { WorkerEnd } from '../../../../src/fleet/workers/worker-end.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';

export const MAX_STALE_SLOTS = 150;

/** Creates a folder with a short path: that of a socket has 107 characters at most. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates what a pipeline process does for workers: nothing but what is given. */
export const serviceOver = (cache: Cache, others: Partial<PipelineService> = {}): PipelineService => ({
  started: Promise.resolve(),
  cache,
  guard: { grantClaim: () => 'observed', advance: () => {} },
  liveAccounts: undefined as unknown as PipelineService['liveAccounts'],
  quotaLedgers: new MemoryQuotaLedger(100, systemClock),
  seatLedger: new SeatLedger(),
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
  answerRpc: () => Promise.reject(new Error('nothing is asked')),
  ...others,
});

/** Creates a worker's end over the log and the socket in a folder. */
export const openWorker = (folder: string, quotaLedger = new RemoteQuotaLedger(1), id = 0): WorkerEnd =>
  new WorkerEnd({
    id,
    folder,
    clock: systemClock,
    cache: { clock: systemClock, bytes: 1 << 20, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 },
    quotaLedger,
    onSeats: () => {},
    onForgottenQuota: () => {},
    onNewLedger: () => {},
    waitMs: 1000,
    onLiveAnswer: () => {},
    onReceiptKeys: () => {},
    onOvertaken: () => {
      throw new Error('overtaken');
    },
  });
