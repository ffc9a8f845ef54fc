import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type ChildProgram, runModule } from '../../support/child-process.ts';

const startChild = async (...args: string[]): Promise<ChildProgram> => {
  const child = runModule(new URL('./run-process-child.js', import.meta.url), args);
  t.teardown(() => child.process.kill('SIGKILL'));
  await child.waitForOutput('listening');
  return child;
};

const logLines = (child: ChildProgram): unknown[] =>
  child
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

t.test('one line of JSON says when it listens, where and for which cluster', async (t) => {
  const child = await startChild('0');
  t.match(logLines(child), [{ level: 'info', msg: 'listening', url: 'http://127.0.0.1:1', cluster: 'genesis' }]);
  t.equal(logLines(child).length, 1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} closes the gateway, then the process ends with 0`, async (t) => {
    const child = await startChild('200');
    child.process.kill(signal);
    t.equal(await child.exit(), 0);
    t.match(child.stdout(), /"closing".*closed\n$/s);
  });
}

t.test('SIGHUP reloads its keys, and it continues', async (t) => {
  const child = await startChild('0');
  child.process.kill('SIGHUP');
  await child.waitForOutput('reloaded');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
});

t.test('a signal that comes twice at once, as Ctrl-C under npm does, counts once', async (t) => {
  const child = await startChild('200');
  child.process.kill('SIGINT');
  await child.waitForOutput('closing');
  child.process.kill('SIGINT');
  t.equal(await child.exit(), 0);
  t.match(child.stdout(), /closed/);
});

t.test('a second signal ends the process at once', async (t) => {
  const child = await startChild('60000');
  child.process.kill('SIGTERM');
  await child.waitForOutput('closing');
  await sleep(600);
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 1);
  t.notMatch(child.stdout(), /closed/);
});

t.test('a gateway that takes too long to close ends with 1, and says so', async (t) => {
  const child = await startChild('60000', 'none', '300');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 1);
  t.match(child.stdout(), /closing took longer than 300 ms/);
});

t.test('a start that is refused behind the open port ends the process with its own code, closed', async (t) => {
  const child = await startChild('50', 'refuses');
  t.equal(await child.exit(), 78);
  t.match(logLines(child)[1], { level: 'error', msg: 'the cluster is another one' });
  t.match(child.stdout(), /closed/);
});

for (const defect of ['throws', 'rejects']) {
  t.test(`an uncaught error that ${defect} is logged with its stack and ends the process with 1, closed`, async (t) => {
    const child = await startChild('50', defect);
    t.equal(await child.exit(), 1);
    t.match(logLines(child)[1], { level: 'error', msg: 'an uncaught error', err: { stack: /run-process-child/ } });
    t.match(child.stdout(), /closed/);
  });
}
