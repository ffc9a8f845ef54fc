import type { Gateway, NodeStatus } from '../gateway/index.ts';
import { StartError } from '../shared/domain/start-error.ts';
import type { Log } from '../shared/runtime/log.ts';

/** The running gateway, as its process needs it. */
export interface RunningGateway extends Omit<Gateway, 'nodes'> {
  readonly nodes: () => readonly Pick<NodeStatus, 'id' | 'status' | 'behindSlots'>[];
  /** Replaces its processes by new ones from disk; undefined where there is one process only. */
  renew?(): void;
}

/** A second signal in this time is the same key press: npm forwards Ctrl-C to a process that has it already. */
const SAME_SIGNAL_MS = 500;

/**
 * Runs a gateway until the end of the process: SIGHUP reloads its keys and settings, SIGUSR2 replaces its worker processes;
 * SIGTERM or SIGINT closes it and exits with 0. A second one exits immediately, and so do `closeMs` milliseconds, whatever
 * still runs: no turn of the event loop is long, and threads end with the process. An uncaught error closes it too and exits with
 * 1, as it leaves unknown state; a StartError, which a start that goes on behind the open port may throw, with its own code.
 * `open` is given what ends it with that. `announce` is called when it listens.
 */
export async function runUntilSignal(
  open: (onFatal: (failure: StartError) => void) => Promise<RunningGateway>,
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
  const onFatal = ({ message, exitCode }: StartError): void => {
    log.error({}, message);
    void closeAndExit(exitCode);
  };
  process.on('uncaughtException', (err) => {
    if (err instanceof StartError) return onFatal(err);
    log.error({ err }, 'an uncaught error');
    void closeAndExit(1); // an error while closing comes back here and ends the process
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

  running = await open(onFatal);
  if (hasHungUp) running.reload();
  announce(running);
}

export function logListening({ url, cluster, embedded, admin }: RunningGateway, log: Log): void {
  log.info({ url, cluster, ...(embedded !== null && { embedded }), ...(admin !== null && { admin }) }, 'listening');
}
