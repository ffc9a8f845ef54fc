import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import { packageFile } from '../../../../src/shared/runtime/package.ts';
import { PATIENT_ARGS, runModule, waitUntilListening } from '../../../support/child-process.ts';
import { waitFor } from '../../../support/harness.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, expectSome, info, type Row } from '../../findings.ts';
import { startConnectionLoad } from '../connection-load.ts';

const CONNECTIONS = 1_000;
/** The connections that a reload may reset where the kernel hands none on. */
const RESETS_PER_RELOAD = 5;

export const unitReloaded: Row = {
  id: 'unit-reloaded',
  title: 'F12: the systemd unit reloaded under load',
  run: ({ isFull }) =>
    withTestScope(async (scope) => {
      const unit = readFileSync(packageFile('config/deploy/slotgate.service'), 'utf8');
      const directives = (name: string): readonly string[] =>
        [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
      const [prepare = '', start = '', reload = ''] = ['ExecStartPre', 'ExecStart', 'ExecReload'].flatMap(directives);
      spawnSync('sh', ['-c', prepare.replace(/^-\+/, '')]); // without the right to it the kernel's setting stays as it is

      const cluster = await startEmbeddedCluster({ slotMs: 100 });
      scope.teardown(cluster.close);
      const state = scope.testdir();
      const settings = {
        port: 0,
        limits: { free: { units: 10_000_000 }, connections: 1_000_000, loopDelayMs: 60_000 },
      };
      writeFileSync(`${state}/slotgate.json`, JSON.stringify(settings));
      const args = start
        .split(' ')
        .slice(1)
        .map((arg) => arg.replace('/etc/slotgate.json', `${state}/slotgate.json`).replace('/var/lib/slotgate', state));
      const environment = Object.fromEntries(directives('Environment').map((pair) => pair.split('=')));
      const main = new URL('../../../../src/main.js', import.meta.url);
      const created = runModule(main, ['receipt', 'key', 'create', '--state', state], environment);
      await created.exit();
      const upstream = ['--upstream', `${cluster.url},${cluster.wsUrl}`];
      const child = runModule(
        main,
        [...args, ...upstream, ...PATIENT_ARGS, '--set', 'drainTimeoutMs=12000'],
        environment,
      );
      scope.teardown(async () => {
        child.process.kill('SIGKILL');
        await child.exit();
      });
      const { url } = await waitUntilListening(child);

      const { counts, stop } = startConnectionLoad(url);
      await waitFor(() => counts.answered > 100, 'load');
      const times = isFull ? 10 : 1;
      for (let i = 1; i <= times; i++) {
        const { opened } = counts;
        spawnSync('sh', ['-c', reload], { env: { ...process.env, MAINPID: String(child.process.pid) } });
        await waitFor(() => child.timesLogged('all processes were replaced') === i, 'a reload');
        await waitFor(() => counts.opened - opened >= CONNECTIONS, 'connections');
      }
      await stop();
      const failed = [...counts.failures.values()].reduce((sum, each) => sum + each, 0);
      const reasons = [...counts.failures].map(([reason, each]) => `${each} ${reason}`).join(', ');
      const mayFail = migratesConnections() ? 0 : times * RESETS_PER_RELOAD;
      return [
        info('reloads', times),
        expectSome('new connections', counts.opened),
        {
          text: `${failed} of them failed (at most ${mayFail}) ${reasons}`.trim(),
          isMet: failed <= mayFail,
        },
        expectSome('answers on kept connections', counts.keptAnswered),
        expectNone('of those cut off', counts.keptCut),
        expectNone('answers other than 200', counts.refused),
      ];
    }),
};

/** Whether the kernel hands connections that wait for a listener which closes on to another one of the port. */
function migratesConnections(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'latin1').trim() === '1';
  } catch {
    return false; // older than Linux 5.14
  }
}
