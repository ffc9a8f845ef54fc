import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { startWorkers, witness } from '../../../support/gateway-with-workers.ts';
import { waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expect, expectNone, expectSome, info, type Row } from '../../findings.ts';
import { PipelinedCaller } from '../pipelined-caller.ts';

const [alice, bob] = [WALLETS[0].address, WALLETS[1].address];
const PATHS = ['/slot', '/network', `/balance/${alice}`, `/balance/${bob}?commitment=finalized`, '/epoch'];

/** What is read millions of times, by a caller each over some connections. */
const CONNECTIONS = 8;
const PIPELINED = ['/slot', `/balance/${alice}`];

/** The longest run. */
const MOST_MS = 570_000;

export const workersKilled: Row = {
  id: 'workers-killed',
  title: 'F2: processes of one port killed, stopped and replaced',
  run: ({ isFull }) =>
    withTestScope(async (scope) => {
      /** The time under each fault. */
      const faultMs = isFull ? 6_000 : 1_500;
      const wanted = isFull ? 10_000_000 : 10_000;
      const cluster = await startEmbeddedCluster({ slotMs: 100 });
      scope.teardown(cluster.close);
      // what a busy machine has callers wait for is no refusal here
      const { url, processes, reload, restarts } = await startWorkers(scope, cluster, ['limits.loopDelayMs=60000']);
      const beganMs = performance.now();
      const untilRunsAgain = async (role: string, signal: NodeJS.Signals): Promise<void> => {
        const pid = processes().get(role);
        const before = restarts();
        if (pid === undefined) throw new Error(`there is no process ${role}`);
        process.kill(pid, signal);
        await sleep(faultMs);
        await waitFor(() => restarts() > before, `${role} again`);
      };
      let isOver = false;
      const seeing = witness(
        url,
        PATHS.map((path) => `/api/v1${path}`),
        () => isOver,
      );
      const callers = PIPELINED.map((path) => new PipelinedCaller(url, `/api/v1${path}`, CONNECTIONS));
      const sumOf = (count: 'answers' | 'stepsBack' | 'cutOff'): number =>
        callers.reduce((sum, caller) => sum + caller[count], 0);
      await sleep(faultMs);
      let reloads = 0;
      do {
        const [one = '', other = ''] = [...processes().keys()].filter((role) => role !== 'pipeline').sort();
        await untilRunsAgain(one, 'SIGKILL');
        await untilRunsAgain(other, 'SIGSTOP');
        await untilRunsAgain('pipeline', 'SIGKILL');
        await untilRunsAgain('pipeline', 'SIGSTOP');
        await reload();
        reloads++;
        await sleep(faultMs);
        await waitFor(() => processes().size === 3, 'the old workers to end');
      } while (sumOf('answers') < wanted && performance.now() - beganMs < MOST_MS);
      isOver = true;
      for (const caller of callers) caller.close();
      const { answers, contradictions, refusals, cutOff } = await seeing;
      const refused = [...refusals].filter(([what]) => !what.includes('are pipelined')); // the other readers pipeline hard
      return [
        expectSome('answers', answers),
        info('connections cut off', cutOff + sumOf('cutOff')),
        expectSome('pipelined reads', sumOf('answers')),
        expectNone('of those with a slot back', sumOf('stepsBack')),
        info('restarts', restarts()),
        info('reloads', reloads),
        expectNone(
          `slots back, frames that differ ${contradictions.slice(0, 3).join('; ')}`.trim(),
          contradictions.length,
        ),
        expect(`no read refused ${refused.join(' ')}`.trim(), refused.length === 0),
      ];
    }),
};
