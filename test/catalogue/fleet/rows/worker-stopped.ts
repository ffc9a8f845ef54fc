import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { startWorkers } from '../../../support/gateway-with-workers.ts';
import { waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, expectSome, info, type Row } from '../../findings.ts';
import { PipelinedCaller } from '../pipelined-caller.ts';

const CONNECTIONS = 16;
/** Shorter than the silence after which a worker is killed. */
const STOPPED_MS = 1500;

export const workerStopped: Row = {
  id: 'worker-stopped',
  title: 'F2: a worker stopped in the midst of its work, and continued',
  run: ({ isFull }) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ slotMs: 50 });
      scope.teardown(cluster.close);
      const { url, processes } = await startWorkers(scope, cluster, ['limits.loopDelayMs=60000']);
      const caller = new PipelinedCaller(url, '/api/v1/slot', CONNECTIONS);
      scope.teardown(() => caller.close());
      await waitFor(() => caller.answers > 2000, 'answers');
      const times = isFull ? 24 : 6;
      for (let i = 0; i < times; i++) {
        const workers = [...processes()].filter(([role]) => role !== 'pipeline');
        const [, pid] = workers[i % workers.length] ?? [];
        if (pid === undefined) throw new Error('there is no worker');
        process.kill(pid, 'SIGSTOP');
        await sleep(STOPPED_MS);
        caller.sendMore(); // with what another worker has served since
        await sleep(20);
        process.kill(pid, 'SIGCONT');
        const before = caller.answers;
        await waitFor(() => caller.answers > before + 2000, 'answers after it goes on');
      }
      return [info('times', times), expectSome('answers', caller.answers), expectNone('slots back', caller.stepsBack)];
    }),
};
