import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { createGenesis } from './cluster-genesis.ts';
import { serveRemoteControl } from './control/remote-control.ts';
import { type LocalCluster, type LocalClusterOptions, startInThreadCluster } from './in-thread-cluster.ts';

/** Input of the worker thread. */
export interface WorkerData {
  readonly slotMs: number | undefined;
  readonly options: LocalClusterOptions;
}

/** First message of the worker thread, sent once the cluster answers requests. */
export interface WorkerReady {
  readonly cluster: Omit<LocalCluster, 'control' | 'close'>;
  readonly commands: readonly string[];
}

if (parentPort === null) throw new Error('the embedded cluster runs in a worker thread');
const { slotMs, options }: WorkerData = workerData;
const genesis = createGenesis(randomBytes(32), systemClock.now(), slotMs);
const {
  chain: _,
  setup: __,
  server: ___,
  control,
  close: ____,
  ...cluster
} = await startInThreadCluster(systemClock, genesis, options);
serveRemoteControl(parentPort, control);
parentPort.postMessage({ cluster, commands: Object.keys(control) } satisfies WorkerReady);
