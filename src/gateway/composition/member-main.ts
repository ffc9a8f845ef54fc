import { closeMsOf } from '../../config/config-schema.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { repeat } from '../../shared/runtime/repeat.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import type { FromMember, ToMember } from '../fleet/supervisor/member-messages.ts';
import { loadEngine } from '../http/load-engine.ts';
import type { FleetProcess } from './create-pipeline-process.ts';

const ALIVE_MS = 500;

interface Running extends FleetProcess {
  countFailedReload?(): void;
}

let running: Running | undefined;
/** What is to be done once the process runs: messages come while it starts, too. */
const early: ((process: Running) => void)[] = [];
let isClosing = false;
let closeMs = 0;
let onLateEnded = (): void => {};

/** Sends a message to the supervisor while there is one; `disconnect` reports its end, so that an error means nothing. */
const report = (message: FromMember): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

function apply(change: (process: Running) => void): void {
  if (running === undefined) early.push(change);
  else change(running);
}

function run(process: Running): void {
  running = process;
  for (const change of early) change(process);
}

async function open(message: Extract<ToMember, { kind: 'start' }>): Promise<void> {
  const { config, receiptKey, secrets, isAdminPortChosen, embedded: cluster, folder } = message.settings;
  closeMs = closeMsOf(config);
  const log = createLog(config.log.level);
  // It lives as long as the supervisor, and this process no longer than that.
  const embedded =
    cluster && Promise.resolve({ ...cluster, ended: new Promise<undefined>(() => {}), async close() {} });
  const { engine } = await loadEngine(config.http.engine); // the supervisor has logged which one it is
  const options = { embedded, engine, config, log, receiptKey, secrets, isAdminPortChosen };
  if (message.role === 'pipeline') {
    process.title = 'slotgate pipeline';
    const { epoch, workers } = message;
    const endLate = (late: readonly number[]): Promise<void> =>
      new Promise((resolve) => {
        onLateEnded = resolve;
        report({ kind: 'late', workers: late });
      });
    const { createPipelineProcess } = await import('./create-pipeline-process.ts');
    const opened = await createPipelineProcess(options, { folder, epoch, workers, endLate });
    run(opened);
    report({ kind: 'up', facts: opened.facts });
  } else {
    process.title = `slotgate worker ${message.id}`;
    const onOvertaken = (): void => {
      log.error({ worker: message.id }, 'this worker stood still for too long: another replaces it');
      process.exit(1);
    };
    const { createWorker } = await import('./create-worker.ts');
    const opened = await createWorker(options, { folder, id: message.id, onOvertaken });
    run(opened);
    report({ kind: 'up', url: opened.url });
  }
  repeat(systemClock, ALIVE_MS, () => report({ kind: 'alive' }));
  if (isClosing) await close();
}

async function close(): Promise<void> {
  isClosing = true;
  if (running === undefined) process.exit(0);
  setTimeout(() => process.exit(1), closeMs).unref();
  await running.close();
  process.exit(0);
}

function fail(thrown: unknown): void {
  const { exitCode = 1, message } =
    thrown instanceof StartError ? thrown : { message: String((thrown as Error).stack) };
  report({ kind: 'failed', exitCode, message });
  setTimeout(() => process.exit(exitCode), 100);
}

process.on('message', (message: ToMember) => {
  switch (message.kind) {
    case 'start':
      open(message).catch(fail);
      break;
    case 'reload':
      apply((process) => process.reload());
      break;
    case 'reloadFailed':
      apply((process) => process.countFailedReload?.());
      break;
    case 'leave':
      apply((process) => process.leave());
      break;
    case 'lateEnded':
      onLateEnded();
      break;
    case 'close':
      void close();
      break;
    default:
      message satisfies never;
  }
});
process.on('disconnect', () => void close()); // the supervisor is gone
if (!process.connected) process.exit(0); // it was before this module ran
process.on('uncaughtException', (thrown) => {
  if (thrown instanceof StartError) return fail(thrown); // a start that went on behind the open port
  process.stderr.write(`${thrown.stack}\n`);
  process.exit(1);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {}); // the supervisor decides
