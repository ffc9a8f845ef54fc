import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/system-clock.ts';
import { obey } from './control/remote-control.ts';
import { keepGenesis, newGenesis } from './genesis.ts';
import { type Cluster, type ClusterOptions, createEmbedded } from './in-thread.ts';

/** What the thread is given. */
export interface Birth {
  readonly state: string;
  readonly slotMs: number | undefined;
  readonly options: ClusterOptions;
}

/** What the thread tells once it answers requests. */
export type Started = Pick<Cluster, 'url' | 'wsUrl' | 'genesisHash' | 'priceFeeds'>;

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const port = parentPort;
const { state, slotMs, options }: Birth = workerData;
const genesis = keepGenesis(state, () => newGenesis(randomBytes(32), systemClock.now(), slotMs));
const { url, wsUrl, genesisHash, priceFeeds, control, close } = await createEmbedded(systemClock, genesis, options);
obey(port, {
  ...control,
  async close() {
    await close();
    // The answer goes out first; with its port closed nothing keeps the thread.
    setImmediate(() => port.close());
  },
});
port.postMessage({ url, wsUrl, genesisHash, priceFeeds } satisfies Started);
