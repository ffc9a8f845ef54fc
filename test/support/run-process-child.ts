import { setTimeout as sleep } from 'node:timers/promises';
import { logListening, runUntilSignal } from '../../src/cli/run-process.ts';
import { StartError } from '../../src/shared/domain/start-error.ts';
import { createLog } from '../../src/shared/runtime/log.ts';

// Child process of run-process.test.ts: it runs a stub gateway that takes a while to close.
const [closingMs, defect, closeMs = '5000'] = process.argv.slice(2);

const startGateway = async () => {
  const keepAlive = setInterval(() => {}, 60_000);
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
      await sleep(Number(closingMs));
      clearInterval(keepAlive);
      process.stdout.write('closed\n');
    },
  };
};

const log = createLog('info');
await runUntilSignal(startGateway, log, Number(closeMs), (gateway) => logListening(gateway, log));
if (defect === 'throws') setTimeout(() => JSON.parse('{'), 0);
if (defect === 'refuses') void Promise.reject(new StartError(78, 'the cluster is another one'));
if (defect === 'rejects') void Promise.reject(new Error('nobody waits for this'));
