import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { startWorkers } from '../../../support/gateway-with-workers.ts';
import { httpClient, waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, expectWithinMs, type Finding, type Row } from '../../findings.ts';
import { ConstantLoad } from '../constant-load.ts';

const REQUESTS_PER_SECOND = 500;
/** Misses at the moment of a fault. */
const MISSES = 4;

export const recovery: Row = {
  id: 'recovery',
  title: 'F2: how long a killed or stopped process of one port is missed',
  run: (runLength) =>
    withTestScope(async (scope) => {
      const cluster = await startEmbeddedCluster({ slotMs: 100 });
      scope.teardown(cluster.close);
      const { url, processes, restarts } = await startWorkers(scope, cluster, ['limits.loopDelayMs=60000']);
      const { get } = httpClient(url);
      const load = new ConstantLoad([url], REQUESTS_PER_SECOND);
      const findings: Finding[] = [];
      let reads = 0;
      let failed = 0;
      const miss = async (): Promise<number> => {
        const sinceMs = performance.now();
        const { status } = await get(`/balance/${addressOfNumber(reads++)}`);
        if (status !== 200) failed++;
        return performance.now() - sinceMs;
      };
      const measure = async (name: string, role: string, signal: 'SIGKILL' | 'SIGSTOP', withinMs: number) => {
        const pid = processes().get(role);
        if (pid === undefined) throw new Error(`there is no process ${role}`);
        await sleep(2000); // all is quiet
        load.nextReport();
        const before = restarts();
        const sinceMs = performance.now();
        process.kill(pid, signal);
        const misses = role === 'pipeline' ? Promise.all(Array.from({ length: MISSES }, miss)) : Promise.resolve([0]);
        if (role === 'pipeline' && signal === 'SIGSTOP') {
          await waitFor(async () => (await get('/slot')).headers.get('X-Cache') === 'STALE', 'STALE');
          findings.push(expectWithinMs(runLength, `${name}: STALE`, performance.now() - sinceMs, 2500));
        }
        await waitFor(() => restarts() > before, `${role} again`);
        findings.push(expectWithinMs(runLength, `${name}: back`, performance.now() - sinceMs, withinMs));
        const slowestMs = Math.max(...(await misses));
        const report = load.nextReport();
        // Connections that were led to a stopped worker wait for its end.
        if (role === 'pipeline' || signal === 'SIGKILL')
          findings.push(expectWithinMs(runLength, 'slowest hit', report.slowestMs, 50));
        if (role === 'pipeline') {
          findings.push(expectWithinMs(runLength, 'slowest miss', slowestMs, withinMs + 500));
          failed += report.failed;
        }
      };
      const [worker = ''] = [...processes().keys()].filter((role) => role !== 'pipeline');
      await sleep(2000); // code is warm
      await measure('worker killed', worker, 'SIGKILL', 500);
      await measure('worker stopped', worker, 'SIGSTOP', 4000);
      await measure('pipeline killed', 'pipeline', 'SIGKILL', 1300);
      await measure('pipeline stopped', 'pipeline', 'SIGSTOP', 7000);
      await load.stop();
      return [...findings, expectNone('requests that failed while no worker did', failed)];
    }),
};
