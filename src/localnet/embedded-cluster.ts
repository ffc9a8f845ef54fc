import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { WorkerData, WorkerReady } from './cluster-worker.ts';
import { createRemoteControl } from './control/remote-control.ts';
import type { LocalCluster, LocalClusterOptions } from './in-thread-cluster.ts';

export interface EmbeddedClusterOptions extends LocalClusterOptions {
  /** Folder that stores the cluster's genesis. */
  readonly state: string;
  /** Length of a slot of a new cluster in milliseconds; an existing cluster keeps its length. */
  readonly slotMs?: number;
}

/**
 * Memory of the thread in MiB. The cluster keeps 60 MiB with its default traffic, and at most 300 with the most that a
 * setting allows; without limits V8 lets four times as much pile up before it collects what is garbage.
 */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 } as const;

/** A cluster in a worker thread. */
export interface EmbeddedCluster extends LocalCluster {
  /** Resolves when the thread has ended for whatever reason; to its error, if any. */
  readonly ended: Promise<Error | undefined>;
  /** Terminates the thread at once. */
  kill(): Promise<void>;
}

/**
 * Starts a cluster in a worker thread. One that restarts from the same folder has the same genesis and continues at a
 * higher slot; its accounts are created again in their first state, and its history begins with that slot. Throws where
 * LiteSVM has no binary for the platform, or the port is in use.
 */
export async function startEmbeddedCluster({
  state,
  slotMs,
  ...options
}: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const workerData: WorkerData = { state, slotMs, options };
  const worker = new Worker(new URL('./cluster-worker.js', import.meta.url), {
    workerData,
    resourceLimits: MEMORY_LIMITS,
  });
  let failure: Error | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  const ended = new Promise<Error | undefined>((resolve) => worker.once('exit', () => resolve(failure)));
  const [started]: [WorkerReady] = await Promise.race([
    once(worker, 'message') as Promise<[WorkerReady]>, // the worker's first message
    ended.then((error) => Promise.reject(error ?? new Error('the embedded cluster ended before it listened'))),
  ]);
  const { control, close } = createRemoteControl(worker, ended);
  return {
    ...started,
    control,
    ended,
    async close() {
      await close().catch(() => {}); // it has ended already
      await ended;
    },
    async kill() {
      await worker.terminate();
    },
  };
}
