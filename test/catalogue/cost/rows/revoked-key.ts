import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { apiKeyFrom } from '../../../../src/access/api-keys/api-key.ts';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { apiKeyRecord, issueKeys, revokeKey } from '../../../support/access/api-key-fixtures.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expect, info } from '../../findings.ts';
import type { CostRow } from '../attack-row.ts';
import { MeasuredGateway } from '../measured-gateway.ts';

const KEY = apiKeyFrom('k'.repeat(30));

/** Time in which a change of the file is noticed, more than once. */
const POLLS_MS = 3000;
const PATIENCE_MS = 15_000;
const run = promisify(execFile);

/** A key that is revoked while the process has no file descriptor left to read the file with. */
export const revokedKey: CostRow = {
  id: 'revoked',
  title: 'a key is revoked while its file can not be opened',
  run: ({ main }) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ transactionsPerSlot: 0 });
      scope.teardown(() => cluster.close());
      const upstream = `${cluster.url},${cluster.wsUrl}`;
      const prepare = (folder: string): Promise<void> => issueKeys(join(folder, 'keys.json'), apiKeyRecord(KEY));
      const gateway = await MeasuredGateway.start({ main, upstream, prepare });
      scope.teardown(() => gateway.close());
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      scope.teardown(() => agent.destroy());
      const statusOf = (key: string): Promise<number> =>
        new Promise((resolve) => {
          const headers = { 'x-api-key': key };
          request(new URL('/api/v1/slot', gateway.url), { agent, headers }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode ?? 0));
          })
            .on('error', () => resolve(0))
            .end();
        });
      const path = join(gateway.stateFolder, 'keys.json');
      const before = await statusOf(KEY);
      const { pid } = gateway.child.process;
      const [, limit = '1024'] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
      const open = readdirSync(`/proc/${pid}/fd`).map(Number);
      await run('prlimit', ['--pid', `${pid}`, `--nofile=${Math.max(...open) + 1}:`]);
      const fillers = []; // descriptors below the limit that are free
      for (let i = open.length; i <= Math.max(...open); i++) fillers.push(new Agent({ keepAlive: true }));
      await Promise.all(fillers.map((each) => holdConnection(gateway.url, each)));
      await revokeKey(path, KEY.slice(-8));
      await sleep(POLLS_MS);
      const meanwhile = await statusOf(KEY);
      await run('prlimit', ['--pid', `${pid}`, `--nofile=${limit}:`]);
      for (const each of fillers) each.destroy();
      const beganMs = performance.now();
      let after = await statusOf(KEY);
      while (after === 200 && performance.now() - beganMs < PATIENCE_MS) {
        await sleep(250);
        after = await statusOf(KEY);
      }
      const tookMs = performance.now() - beganMs;
      return [
        info('status before', before),
        info('without descriptors', meanwhile),
        expect(
          `refused again ${after === 401 ? `after ${tookMs.toFixed(0)} ms` : `within ${PATIENCE_MS} ms`}`,
          after === 401,
        ),
      ];
    }),
};

/** Opens a connection that stays open. */
const holdConnection = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve) => {
    request(new URL('/api/v1/health', url), { agent }, (response) => response.resume().on('end', () => resolve()))
      .on('error', () => resolve())
      .end();
  });
