import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FromMember, ToMember } from '../../src/gateway/fleet/supervisor/member-messages.ts';
import { facts } from './member-facts.ts';

/** A process that has a file while it runs, which names its role and settings; no pipeline process has a drain delay. */
const send = (message: FromMember): void => {
  process.send?.(message);
};
let path = '';
process.on('message', (message: ToMember) => {
  if (message.kind === 'start') {
    const { dataDir, drainDelayMs } = message.settings.config;
    if (message.role === 'pipeline' && drainDelayMs > 0) {
      send({ kind: 'failed', exitCode: 78, message: 'the nodes are of another cluster' });
      process.disconnect();
      return;
    }
    path = join(dataDir, `${process.pid} ${message.role} ${drainDelayMs}`);
    writeFileSync(path, '');
    send({ kind: 'up', url: 'http://localhost', facts });
  } else if (message.kind === 'close') {
    rmSync(path);
    process.disconnect();
  }
});
