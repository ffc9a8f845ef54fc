import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../shared/runtime/system-clock.ts';
import type { ClusterFacts } from './embedded-cluster.ts';
import { startInThreadCluster } from './in-thread-cluster.ts';

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const cluster = await startInThreadCluster(systemClock, randomBytes(32), workerData);
const { url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } = cluster;
parentPort.postMessage({ url, wsUrl, geyserUrl, takenPort, genesisHash, accounts, priceFeeds } satisfies ClusterFacts);
