import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readUsage, usagePath } from '../../../../src/access/usage/usage-file.ts';
import { runModule, waitUntilListening } from '../../../support/child-process.ts';
import { httpClient, waitFor } from '../../../support/harness.ts';
import { runSlotgate, type SlotgateOutput } from '../../../support/run-slotgate.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expect, expectNone, expectSome, type FaultRow, info } from '../../findings.ts';

const ROUTES = ['/slot', '/network', '/epoch', '/pubkey', '/performance', '/priority-fee'] as const;

const mount = (...args: readonly string[]): boolean => spawnSync('mount', args).status === 0;

/** Writes until nothing fits any more. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let bytes = 4096; bytes > 0; ) {
      try {
        writeSync(file, Buffer.alloc(bytes));
      } catch {
        bytes >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}

/** Whether a key was not created since the disk doesn't take it. */
const isRefused = ({ code, out, err }: SlotgateOutput): boolean =>
  code !== 0 && out === '' && /ENOSPC|EROFS|no space|read-only/i.test(err);

/** A state folder on a disk that gets full, and then can't be written to at all. */
export const diskFull: FaultRow = {
  id: '47',
  title: 'the disk of the state folder gets full, then read-only',
  run: () =>
    withTestScope(async (scope) => {
      const disk = join(scope.testdir(), 'disk');
      mkdirSync(disk);
      if (!mount('-t', 'tmpfs', '-o', 'size=256k', 'none', disk)) return [info('a small disk', 'not measured here')];
      scope.teardown(() => spawnSync('umount', ['-l', disk]));
      const keys = (...args: readonly string[]) => runSlotgate(['keys', ...args, '--state', disk]);
      const key = (await keys('create', '--tier', 'scale', '--label', 'x')).out.trim();
      const keysPath = join(disk, 'keys.json');
      const keysBefore = readFileSync(keysPath, 'utf8');
      const child = runModule(new URL('../../../../src/main.js', import.meta.url), [
        ...['--port', '0', '--admin-port', '0', '--state', disk],
        ...['--set', 'embedded.port=0', '--set', 'limits.loopDelayMs=60000'],
      ]);
      scope.teardown(async () => {
        child.process.kill('SIGKILL');
        await child.exit();
      });
      const { url, admin } = await waitUntilListening(child);
      const { get } = httpClient(url);
      const failures = async (): Promise<number> =>
        Number(/^slotgate_usage_write_failures_total (\d+)/m.exec(await (await fetch(`${admin}/metrics`)).text())?.[1]);
      let answered = 0;
      const refused = new Set<string>();
      const request = async (): Promise<void> => {
        for (const route of ROUTES) {
          const { status, json } = await get(route, { headers: { 'x-api-key': key } });
          if (status === 200) answered++;
          else if (json?.error !== 'not_found') refused.add(`${route} ${status}`);
        }
      };
      const untilMoreFail = async (than: number): Promise<void> =>
        waitFor(async () => {
          await request();
          return (await failures()) > than;
        }, 'a failed write');
      const inFile = (): number => readUsage(usagePath(disk)).reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
      const untilAllIsWritten = (): Promise<void> => waitFor(() => inFile() === answered, 'all usage in the file');

      const filler = join(disk, 'filler');
      fill(filler);
      await untilMoreFail(0);
      const whileFull = await keys('create', '--tier', 'build', '--label', 'y');
      const keptWhenFull = readFileSync(keysPath, 'utf8') === keysBefore;
      rmSync(filler);
      await untilAllIsWritten();
      const failed = await failures();
      const isReadOnly = mount('-o', 'remount,ro', disk);
      if (isReadOnly) await untilMoreFail(failed);
      const whileReadOnly = isReadOnly ? await keys('create', '--tier', 'build', '--label', 'z') : whileFull;
      if (isReadOnly) mount('-o', 'remount,rw', disk);
      await untilAllIsWritten();
      const later = await keys('create', '--tier', 'build', '--label', 'later');
      return [
        expectSome('answers', answered),
        expect(`no request refused ${[...refused].join(' ')}`.trim(), refused.size === 0),
        expectSome('failed writes', await failures()),
        info('read-only', isReadOnly ? 'measured' : 'not measured here'),
        expect('a key is refused while the disk is full', isRefused(whileFull)),
        expect('and while it is read-only', isRefused(whileReadOnly)),
        expect('the keys are as before', keptWhenFull),
        expectNone('usage lost or doubled', Math.abs(inFile() - answered)),
        expect('a key is created once there is room', later.code === 0),
        expect('the log tells it', /usage/.test(child.stdout())),
      ];
    }),
};
