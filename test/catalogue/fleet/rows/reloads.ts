import { readFileSync } from 'node:fs';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { startWorkers } from '../../../support/workers-world.ts';
import { expectNone, expectSome, type FaultRow, info } from '../../findings.ts';
import { startConnectionLoad } from '../connection-load.ts';

/** The connections that a reload may reset where the kernel hands none on. */
const RESETS_PER_RELOAD = 5;

/** Whether the kernel hands connections that wait for a listener which closes on to another one of the port. */
function migratesConnections(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'latin1').trim() === '1';
  } catch {
    return false; // older than Linux 5.14
  }
}

/** SIGUSR2 again and again, while callers open connections and keep others. */
export const reloads: FaultRow = {
  id: '44',
  title: 'F12: all processes replaced under load',
  run: ({ isFull }) =>
    withTestScope(async (scope) => {
      const count = isFull ? 10 : 2;
      const connectionsEach = isFull ? 5_500 : 200;
      const cluster = await startEmbeddedCluster({ slotMs: 100 });
      scope.teardown(cluster.close);
      const { url, reload } = await startWorkers(scope, cluster, ['drainMs=12000', 'limits.loopDelayMs=60000']);
      const { counts, stop } = startConnectionLoad(url);
      await waitFor(() => counts.answered > 100, 'load');
      for (let i = 1; i <= count; i++) {
        const before = counts.opened;
        await reload();
        await waitFor(() => counts.opened - before >= connectionsEach, 'connections');
      }
      await stop();
      const failed = [...counts.failures.values()].reduce((sum, each) => sum + each, 0);
      const reasons = [...counts.failures].map(([reason, times]) => `${times} ${reason}`).join(', ');
      const mayFail = migratesConnections() ? 0 : count * RESETS_PER_RELOAD;
      const how =
        mayFail === 0 ? 'with tcp_migrate_req' : `without tcp_migrate_req at most ${RESETS_PER_RELOAD} a reload`;
      return [
        info('reloads', count),
        expectSome('new connections', counts.opened),
        { text: `${failed} of them failed (${how}) ${reasons}`.trim(), isMet: failed <= mayFail },
        expectSome('answers on kept connections', counts.keptAnswered),
        expectNone('of those cut off', counts.keptCut),
        expectNone('answers other than 200', counts.refused),
      ];
    }),
};
