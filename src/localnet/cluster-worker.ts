import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { createGenesis } from './cluster-genesis.ts';
import { type LocalCluster, type LocalClusterOptions, startInThreadCluster } from './in-thread-cluster.ts';

/** Input of the worker thread. */
export interface WorkerData {
  readonly slotMs: number | undefined;
  readonly options: LocalClusterOptions;
}

/** The message of the worker thread, sent once the cluster answers requests. */
export type WorkerReady = Omit<LocalCluster, 'close'>;

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const { slotMs, options }: WorkerData = workerData;
const genesis = createGenesis(randomBytes(32), systemClock.now(), slotMs);
const cluster = await startInThreadCluster(systemClock, genesis, options);
const { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } = cluster;
parentPort.postMessage({ url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } satisfies WorkerReady);
