import { StartError } from '../domain/start-error.ts';
import type { Log } from '../runtime/log.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';

/** The running gateway, as its process needs it. */
export interface RunningGateway {
  readonly url: string;
  /** The cluster's genesis hash; null until a first node was reached. */
  readonly cluster: string | null;
  /** The address of the embedded cluster; null over configured nodes. */
  readonly embedded: { readonly rpc: string } | null;
  /** The address of the listener for operators; null for none. */
  readonly admin: string | null;
  /** Public key that signs now: 32 bytes, base58. */
  readonly publicKey: string;
  /** The file of the receipt key; null if it was given inline. */
  readonly receiptKeyPath: string | null;
  /** Whether finalized answers may be signed as `exact`. */
  readonly signsAlone: boolean;
  /** The nodes and their states. */
  readonly nodes: () => readonly Pick<NodeStatus, 'id' | 'status' | 'behindSlots'>[];
  /** Reloads what the operator may have changed. */
  reload(): void;
  /** Replaces its processes by new ones from disk; undefined where there is one process only. */
  renew?(): void;
  /** Answers pending requests, then releases everything. */
  close(): Promise<void>;
}

/**
 * The time in which a second signal is the same key press: npm forwards Ctrl-C to a process that has it from the
 * terminal already.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Runs a gateway until the end of the process: SIGHUP reloads its keys and settings, SIGUSR2 replaces its worker processes;
 * SIGTERM or SIGINT closes it and exits with 0, a second one exits at once, and so do `closeMs` milliseconds, whatever still
 * runs: no turn of the event loop is long, and threads end with the process. An uncaught error closes it too and exits with
 * 1, as it leaves unknown state; a StartError, which a start that goes on behind the open port may throw, with its own code.
 * `announce` tells that it listens.
 */
export async function runUntilSignal(
  open: () => Promise<RunningGateway>,
  log: Log,
  closeMs: number,
  announce: (gateway: RunningGateway) => void,
): Promise<void> {
  let running: RunningGateway | undefined;
  let isClosing = false;
  const closeAndExit = async (exitCode: number): Promise<void> => {
    if (isClosing) process.exit(1);
    isClosing = true;
    setTimeout(() => {
      log.warn({}, `closing took longer than ${closeMs} ms: the process ends all the same`);
      process.exit(1);
    }, closeMs).unref();
    await running?.close();
    process.exit(exitCode);
  };

  let signalledAtMs = Number.NEGATIVE_INFINITY;
  const onSignal = (signal: string): void => {
    if (performance.now() - signalledAtMs < SAME_SIGNAL_MS) return;
    signalledAtMs = performance.now();
    log.info({ signal }, 'closing');
    void closeAndExit(0);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('uncaughtException', (err) => {
    const isRefused = err instanceof StartError;
    if (isRefused) log.error({}, err.message);
    else log.error({ err }, 'an uncaught error');
    void closeAndExit(isRefused ? err.exitCode : 1); // an error while closing comes back here and ends the process
  });

  let hasHungUp = false; // a SIGHUP during the start is handled after it
  process.on('SIGHUP', () => {
    hasHungUp = true;
    running?.reload();
  });

  process.on('SIGUSR2', () => {
    if (running?.renew === undefined) log.info({}, 'SIGUSR2 is ignored: it replaces the processes of --workers');
    else running.renew();
  });

  running = await open();
  if (hasHungUp) running.reload();
  announce(running);
}

/** Logs where it listens, for programs. */
export function logListening({ url, cluster, embedded, admin }: RunningGateway, log: Log): void {
  log.info({ url, cluster, ...(embedded !== null && { embedded }), ...(admin !== null && { admin }) }, 'listening');
}
