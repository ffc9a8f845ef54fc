import { StartError } from '../domain/start-error.ts';
import type { FromMember, ToMember } from '../fleet/workers/member-messages.ts';
import { loadEngine } from '../http/load-engine.ts';
import { createLog } from '../runtime/log.ts';
import { repeat } from '../runtime/repeat.ts';
import { systemClock } from '../runtime/system-clock.ts';

/** Time between two signs of life. */
const ALIVE_MS = 500;

interface Running {
  reload(): void;
  countFailedReload?(): void;
  close(): Promise<void>;
}

let running: Running | undefined;
let isClosing = false;
let closeMs = 0;

/** Tells the supervisor, if there is one: that it is gone is told by `disconnect`, whether it takes this or not. */
const tell = (message: FromMember): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

/** Opens the process of this role, and tells when it is up. */
async function open(message: Extract<ToMember, { kind: 'start' }>): Promise<void> {
  const { config, receiptKey, secrets, isAdminPortChosen, embedded: cluster, folder } = message.settings;
  closeMs = config.drainDelayMs + config.drainMs + 1_000;
  const log = createLog(config.log.level);
  // It lives as long as the supervisor, and this process no longer than that.
  const embedded =
    cluster && Promise.resolve({ ...cluster, ended: new Promise<undefined>(() => {}), async close() {} });
  const { engine } = await loadEngine(config.http.engine); // the supervisor has logged which one it is
  const options = { embedded, engine, config, log, receiptKey, secrets, isAdminPortChosen };
  if (message.role === 'pipeline') {
    process.title = 'slotgate pipeline';
    const { epoch, workers } = message;
    const onLate = (late: readonly number[]): void => tell({ kind: 'late', workers: late });
    const { createPipelineProcess } = await import('../gateway/create-pipeline-process.ts');
    const opened = await createPipelineProcess(options, { folder, epoch, workers, onLate });
    running = opened;
    tell({ kind: 'up', facts: opened.facts });
  } else {
    process.title = `slotgate worker ${message.id}`;
    const onOvertaken = (): void => {
      log.error({ worker: message.id }, 'this worker stood still for too long: another takes its place');
      process.exit(1);
    };
    const { createWorker } = await import('../gateway/create-worker.ts');
    const opened = await createWorker(options, { folder, id: message.id, onOvertaken });
    running = opened;
    tell({ kind: 'up', url: opened.url });
  }
  repeat(systemClock, ALIVE_MS, () => tell({ kind: 'alive' }));
  if (isClosing) await close();
}

/** Answers what was asked, then ends the process. */
async function close(): Promise<void> {
  isClosing = true;
  if (running === undefined) process.exit(0);
  setTimeout(() => process.exit(1), closeMs).unref();
  await running.close();
  process.exit(0);
}

/** Tells why this process can't go on, and ends it. */
function fail(thrown: unknown): void {
  const { exitCode = 1, message } =
    thrown instanceof StartError ? thrown : { message: String((thrown as Error).stack) };
  tell({ kind: 'failed', exitCode, message });
  setTimeout(() => process.exit(exitCode), 100);
}

process.on('message', (message: ToMember) => {
  if (message.kind === 'start') open(message).catch(fail);
  else if (message.kind === 'reload') running?.reload();
  else if (message.kind === 'reloadFailed') running?.countFailedReload?.();
  else void close();
});
process.on('disconnect', () => void close()); // the supervisor is gone
process.on('uncaughtException', (thrown) => {
  if (thrown instanceof StartError) return fail(thrown); // a start that went on behind the open port
  process.stderr.write(`${thrown.stack}\n`);
  process.exit(1);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {}); // the supervisor tells what to do
