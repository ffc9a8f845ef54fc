import type { Gateway, NodeStatus } from '../gateway/index.ts';
import { StartError } from '../shared/domain/start-error.ts';
import type { Log } from '../shared/runtime/log.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { createKeyPressFilter } from './same-key-press.ts';

/** The running gateway, as its process needs it. */
export interface RunningGateway extends Omit<Gateway, 'nodes'> {
  readonly nodes: () => readonly Pick<NodeStatus, 'id' | 'status' | 'behindSlots'>[];
  /** Replaces its processes by new ones from disk; undefined where there is one process only. */
  renew?(): void;
}

/**
 * Runs a gateway until the end of the process: SIGHUP reloads its keys and settings, SIGUSR2 replaces its worker processes;
 * SIGTERM or SIGINT closes it and exits with 0. SIGHUP `onTerminal`, whose window was closed, closes it, too. A second one
 * exits immediately, and so do `closeMs` milliseconds, whatever still runs: no turn of the event loop is long, and threads end
 * with the process. An uncaught error closes it too and exits with 1, as it leaves unknown state; a StartError, which a start
 * that goes on behind the open port may throw, with its own code. `open` is given what ends it with that. `announce` is called
 * when it listens.
 */
export async function runUntilSignal(
  open: (onFatal: (failure: StartError) => void) => Promise<RunningGateway>,
  log: Log,
  closeMs: number,
  announce: (gateway: RunningGateway) => void,
  onTerminal = false,
): Promise<void> {
  let running: RunningGateway | undefined;
  let isClosing = false;
  let end = (exitCode: number): void => process.exit(exitCode);
  const closeAndExit = async (exitCode: number): Promise<void> => {
    if (isClosing) process.exit(1);
    isClosing = true;
    process.exitCode = exitCode; // of a process in which nothing but the closing is left, and waits
    setTimeout(() => {
      log.warn({}, `closing took longer than ${closeMs} ms: the process ends all the same`);
      process.exit(1);
    }, closeMs).unref();
    await running?.close();
    end(exitCode);
  };

  const isSameKeyPress = createKeyPressFilter(systemClock);
  const onSignal = (signal: string): void => {
    if (isSameKeyPress()) return;
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

  const early = new Set<(gateway: RunningGateway) => void>(); // signals during the start are handled after it
  const apply = (change: (gateway: RunningGateway) => void): unknown =>
    running === undefined ? early.add(change) : change(running);
  const reload = (gateway: RunningGateway): void => gateway.reload();
  const renew = (gateway: RunningGateway): void => {
    if (gateway.renew === undefined) log.info({}, 'SIGUSR2 is ignored: it replaces the processes of --workers');
    else gateway.renew();
  };
  const onWindowClosed = (signal: string): void => {
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {}); // nothing can be written any more
    end = () => {
      process.removeAllListeners('SIGHUP');
      process.kill(process.pid, 'SIGHUP'); // Node 20's own exit crashes where the terminal is gone
    };
    onSignal(signal);
  };
  process.on('SIGHUP', onTerminal ? onWindowClosed : () => apply(reload));
  process.on('SIGUSR2', () => apply(renew));

  running = await open(onFatal);
  for (const change of early) change(running);
  announce(running);
}

export function logListening({ url, cluster, embedded, admin }: RunningGateway, log: Log): void {
  log.info({ url, cluster, ...(embedded !== null && { embedded }), ...(admin !== null && { admin }) }, 'listening');
}
