import type { Log } from '../runtime/log.ts';

/** What runs: the gateway, as far as the process that carries it is concerned. */
export interface RunningGateway {
  readonly url: string;
  /** The cluster's genesis hash. */
  readonly cluster: string;
  /** Reads again what the operator may have changed. */
  reload(): void;
  /** Answers what has been asked, then lets go of everything. */
  close(): Promise<void>;
}

/** npm passes Ctrl-C on to a process that has it from the terminal already: within this time it is the same press. */
const SAME_SIGNAL_MS = 500;

/**
 * Carries a gateway from its opening to the end of the process: SIGHUP has it read its keys again; SIGTERM or SIGINT
 * closes it and exits with 0, a second one exits at once. A defect that nothing caught closes it too, and exits with 1: what state it left is unknown.
 */
export async function runUntilSignal(open: () => Promise<RunningGateway>, log: Log, closeMs: number): Promise<void> {
  let running: RunningGateway | undefined;
  let isClosing = false;
  const closeAndExit = async (exitCode: number): Promise<void> => {
    if (isClosing) process.exit(1);
    isClosing = true;
    setTimeout(() => process.exit(1), closeMs).unref();
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
    log.error({ err }, 'a defect');
    void closeAndExit(1); // a fault in closing comes back here and ends it
  });

  let hasHungUp = false; // one that comes while opening is answered behind it
  process.on('SIGHUP', () => {
    hasHungUp = true;
    running?.reload();
  });

  running = await open();
  if (hasHungUp) running.reload();
  log.info({ url: running.url, cluster: running.cluster }, 'listening');
}
