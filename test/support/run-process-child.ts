import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { logListening, type RunningGateway, runUntilSignal } from '../../src/cli/run-process.ts';
import { StartError } from '../../src/shared/domain/start-error.ts';
import { createLog } from '../../src/shared/runtime/log.ts';

// Child process of run-process.test.ts: it runs a stub gateway that takes a while to close.
const [closingMs, defect, closeMs = '5000', kind] = process.argv.slice(2);

const startGateway = async () => {
  const keepAlive = setInterval(() => {}, 60_000);
  if (kind === 'slow') {
    process.stdout.write('opening\n');
    await Promise.all([once(process, 'SIGHUP'), once(process, 'SIGUSR2')]);
  }
  return {
    url: 'http://127.0.0.1:1',
    cluster: 'genesis',
    embedded: null,
    publicKey: 'key',
    receiptKeyPath: null,
    receiptMode: 'exact' as const,
    nodes: () => [],
    admin: null,
    reload: () => process.stdout.write('reloaded\n'),
    async close() {
      if (kind === 'idle') clearInterval(keepAlive); // and nothing keeps the process running for what it waits for
      if (kind === 'idle') await new Promise(() => {});
      await sleep(Number(closingMs));
      clearInterval(keepAlive);
      process.stdout.write('closed\n');
    },
  };
};

const log = createLog('info');
const announce = (gateway: RunningGateway): void => logListening(gateway, log);
await runUntilSignal(startGateway, log, Number(closeMs), announce, kind === 'terminal');
if (defect === 'throws') setTimeout(() => JSON.parse('{'), 0);
if (defect === 'refuses') void Promise.reject(new StartError(78, 'the cluster is another one'));
if (defect === 'rejects') void Promise.reject(new Error('nobody waits for this'));
