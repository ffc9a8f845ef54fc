import { once } from 'node:events';
import t, { type Test } from 'tap';
import { type ChildProgram, runModule } from '../../support/child-process.ts';

function startLogging(t: Test): ChildProgram {
  const child = runModule(new URL('../../support/log-and-exit.js', import.meta.url), []);
  t.teardown(() => void child.process.kill('SIGKILL'));
  return child;
}

t.test('the last line before an exit is written', async (t) => {
  const child = startLogging(t);
  child.process.stdin?.end();
  t.equal(await child.exit(), 0);
  t.match(child.stdout(), /"the last line"/);
});

t.test('a process ends though nobody reads its log any more', async (t) => {
  const child = startLogging(t);
  child.process.stdout?.destroy();
  const ended = once(child.process, 'exit');
  child.process.stdin?.end();
  t.strictSame(await ended, [0, null]);
});
