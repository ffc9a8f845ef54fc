import { MemoryQuotaLedger } from '../../../../src/access/quota/memory-quota-ledger.ts';
import { Cache } from '../../../../src/cache/cache.ts';
import { PipelineEnd } from '../../../../src/fleet/workers/pipeline-end.ts';
import { RemoteQuotaLedger } from '../../../../src/fleet/workers/remote-quota-ledger.ts';
import type { WorkerEnd } from '../../../../src/fleet/workers/worker-end.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { testLedger } from '../../../support/access/ledger-contract.ts';
import { waitFor } from '../../../support/harness.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MAX_STALE_SLOTS, openWorker, serviceOver, shortFolder } from './worker-world.ts';

const OTHER = { id: 'other', limit: 1, windowMs: 1000, window: 0, ageMs: 0, used: 0, want: 0, need: 0 };

/** Asks about another identity, and so hears all that was told before. */
const hasAnswered = (ledger: RemoteQuotaLedger): Promise<boolean> =>
  ledger.settle([OTHER]).then(
    () => true,
    () => false,
  );

testLedger('of the pipeline process, asked by workers', async () => {
  const clock = new ManualClock();
  const workers: WorkerEnd[] = [];
  const ledgers: RemoteQuotaLedger[] = [];
  const folder = shortFolder();
  let epoch = 0;
  let end = await openPipeline();
  async function openPipeline(): Promise<PipelineEnd> {
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 });
    const opened = new PipelineEnd({ folder, epoch: ++epoch, workers: [], clock: systemClock, onLate: () => {} });
    await opened.open(serviceOver(cache, { quotaLedgers: new MemoryQuotaLedger(100, clock) }));
    return opened;
  }
  return {
    windowMs: 10_000,
    async join() {
      const ledger = new RemoteQuotaLedger(2);
      const worker = openWorker(folder, ledger, workers.length);
      workers.push(worker);
      ledgers.push(ledger);
      await worker.joined;
      return ledger;
    },
    async pass(ms) {
      clock.advance(ms);
      await Promise.all(ledgers.map(hasAnswered));
    },
    async forget() {
      end.close();
      end = await openPipeline();
      for (const ledger of ledgers) await waitFor(() => hasAnswered(ledger), 'a worker at the next pipeline process');
    },
    close() {
      for (const worker of workers) worker.close();
      end.close();
    },
  };
});
