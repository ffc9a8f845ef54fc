import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StartError } from '../shared/domain/start-error.ts';
import { hasErrorCode } from '../shared/runtime/files/error-code.ts';
import { requireFreePort } from '../shared/runtime/require-free-port.ts';
import { NO_LITESVM } from './bank/no-litesvm.ts';
import { HOST, type TakenPort, type WantedPorts } from './port-pair.ts';
import type { DemoAccount } from './traffic/demo-accounts.ts';

/** In MiB: the cluster keeps 60 by default, 300 at most; without limits V8 lets four times as much pile up. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 } as const;

export interface LocalClusterOptions extends WantedPorts {
  readonly slotMs?: number;
  /** Average transactions per slot; 0 for none. */
  readonly transactionsPerSlot?: number;
  /** Number of slots of which one is skipped; 0 skips none. */
  readonly skipEvery?: number;
  readonly slotsPerEpoch?: number;
  /** Port of the Geyser gRPC feed, 0 for a free one; null, which is the default, for none. */
  readonly geyserPort?: number | null;
}

/** What a cluster that listens on loopback says of itself. */
export interface ClusterFacts {
  readonly url: string;
  readonly wsUrl: string;
  /** Where the Geyser gRPC feed is; undefined without one. */
  readonly geyserUrl: string | undefined;
  /** The wanted port that another process has, if that is why the cluster listens on other ports. */
  readonly takenPort: TakenPort | undefined;
  readonly genesisHash: string;
  /** Accounts to try requests with. */
  readonly accounts: readonly DemoAccount[];
  /** Pyth feeds on this cluster, by mint. */
  readonly priceFeeds: Readonly<Record<string, string>>;
}

/** A Solana cluster in a worker thread. */
export interface EmbeddedCluster extends ClusterFacts {
  /** Resolves when the thread has ended for whatever reason; to its error, if any. */
  readonly ended: Promise<Error | undefined>;
  close(): Promise<void>;
}

/** With its own genesis. Throws a StartError if LiteSVM has no binary for the system, or a fixed port is in use. */
export async function startEmbeddedCluster(options: LocalClusterOptions = {}): Promise<EmbeddedCluster> {
  if (options.geyserPort) await requireFreePort(HOST, options.geyserPort, 'embedded.geyserPort');
  const worker = new Worker(new URL('./cluster-worker.js', import.meta.url), {
    workerData: options,
    resourceLimits: MEMORY_LIMITS,
  });
  let failure: Error | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  const ended = new Promise<Error | undefined>((resolve) => worker.once('exit', () => resolve(failure)));
  const [cluster]: [ClusterFacts] = await Promise.race([
    once(worker, 'message') as Promise<[ClusterFacts]>, // rejects with the worker's error
    ended.then(() => Promise.reject(new Error('the embedded cluster ended before it listened'))),
  ]).catch((thrown: unknown) => {
    if (hasErrorCode(thrown, NO_LITESVM)) throw cannotRun(thrown);
    throw isListenError(thrown) ? cannotListen(thrown, options) : thrown;
  });
  return {
    ...cluster,
    ended,
    async close() {
      await worker.terminate(); // nothing of the chain is stored, so a block that is being produced need not be awaited
    },
  };
}

const cannotRun = (cause: unknown): StartError =>
  new StartError(
    78,
    `the embedded cluster does not run on this system: LiteSVM has no binary for ${process.platform} ${process.arch}; name a node with --upstream`,
    cause,
  );

const isListenError = (thrown: unknown): thrown is Error =>
  ['EADDRINUSE', 'EACCES'].some((code) => hasErrorCode(thrown, code));

const cannotListen = (cause: Error, { port = 0 }: WantedPorts): StartError =>
  new StartError(
    1,
    `the embedded cluster can't listen on port ${port}, and on ${port + 1} for WebSocket (${cause.message}): choose another embedded.port, or null`,
    cause,
  );
