import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/system-clock.ts';
import { createGenesis, loadOrCreateGenesis } from './cluster-genesis.ts';
import { serveRemoteControl } from './control/remote-control.ts';
import { type LocalCluster, type LocalClusterOptions, startInThreadCluster } from './in-thread-cluster.ts';

/** Input of the worker thread. */
export interface WorkerData {
  readonly state: string;
  readonly slotMs: number | undefined;
  readonly options: LocalClusterOptions;
}

/** First message of the worker thread, sent once the cluster answers requests. */
export type WorkerReady = Pick<LocalCluster, 'url' | 'wsUrl' | 'genesisHash' | 'priceFeeds'>;

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const port = parentPort;
const { state, slotMs, options }: WorkerData = workerData;
const genesis = loadOrCreateGenesis(state, () => createGenesis(randomBytes(32), systemClock.now(), slotMs));
const { url, wsUrl, genesisHash, priceFeeds, control, close } = await startInThreadCluster(
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
port.postMessage({ url, wsUrl, genesisHash, priceFeeds } satisfies WorkerReady);
