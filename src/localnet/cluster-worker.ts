import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/system-clock.ts';
import { createGenesis } from './cluster-genesis.ts';
import { serveRemoteControl } from './control/remote-control.ts';
import { type LocalCluster, type LocalClusterOptions, startInThreadCluster } from './in-thread-cluster.ts';

/** Input of the worker thread. */
export interface WorkerData {
  readonly slotMs: number | undefined;
  readonly options: LocalClusterOptions;
}

/** First message of the worker thread, sent once the cluster answers requests. */
export type WorkerReady = Omit<LocalCluster, 'control' | 'close'>;

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const port = parentPort;
const { slotMs, options }: WorkerData = workerData;
const genesis = createGenesis(randomBytes(32), systemClock.now(), slotMs);
const { url, wsUrl, takenPort, genesisHash, priceFeeds, accounts, control, close } = await startInThreadCluster(
  systemClock,
  genesis,
  options,
);
serveRemoteControl(port, {
  ...control,
  async close() {
    await close();
    // The reply is sent first; with its port closed nothing keeps the thread alive.
    setImmediate(() => port.close());
  },
});
port.postMessage({ url, wsUrl, takenPort, genesisHash, priceFeeds, accounts } satisfies WorkerReady);
