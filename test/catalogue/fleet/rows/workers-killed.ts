import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { startWorkers, witness } from '../../../support/workers-world.ts';
import { expect, expectNone, expectSome, type FaultRow, info } from '../../findings.ts';

const [alice, bob] = [WALLETS[0].address, WALLETS[1].address];
const PATHS = ['/slot', '/network', `/balance/${alice}`, `/balance/${bob}?commitment=finalized`, '/epoch'];

/** SIGKILL, SIGSTOP and SIGUSR2 of the processes behind one port. */
export const workersKilled: FaultRow = {
  id: 'workers',
  title: 'F2: processes of one port killed, stopped and replaced',
  run: ({ isFull }) =>
    withTestScope(async (scope) => {
      /** The time under each fault. */
      const faultMs = isFull ? 60_000 : 1_500;
      const cluster = await startEmbeddedCluster({ slotMs: 100 });
      scope.teardown(cluster.close);
      // what a busy machine has callers wait for is no refusal here
      const { child, url, processes } = await startWorkers(scope, cluster, ['limits.loopDelayMs=60000']);
      const roles = (): string => [...processes().keys()].sort().join();
      let restarts = 0;
      const untilRunsAgain = async (role: string, signal: NodeJS.Signals): Promise<void> => {
        const pid = processes().get(role);
        if (pid === undefined) throw new Error(`there is no process ${role}`);
        process.kill(pid, signal);
        await sleep(faultMs);
        restarts++;
        await waitFor(() => child.stdout().split('the process runs again').length > restarts, `${role} again`);
      };
      let isOver = false;
      const seeing = witness(
        url,
        PATHS.map((path) => `/api/v1${path}`),
        () => isOver,
      );
      await sleep(faultMs);
      await untilRunsAgain('0', 'SIGKILL');
      await untilRunsAgain('1', 'SIGSTOP');
      await untilRunsAgain('pipeline', 'SIGKILL');
      await untilRunsAgain('pipeline', 'SIGSTOP');
      child.process.kill('SIGUSR2');
      await child.waitForOutput('all processes were replaced');
      await sleep(faultMs);
      isOver = true;
      const { answers, contradictions, refusals, cutOff } = await seeing;
      await waitFor(() => roles() === '2,3,pipeline', 'two new workers');
      return [
        expectSome('answers', answers),
        info('connections cut off', cutOff),
        info('restarts', restarts),
        expectNone(
          `slots back, frames that differ ${contradictions.slice(0, 3).join('; ')}`.trim(),
          contradictions.length,
        ),
        expect(`no read refused ${[...refusals].join(' ')}`.trim(), refusals.size === 0),
      ];
    }),
};
