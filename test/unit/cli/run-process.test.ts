import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Child, run } from '../../support/child-process.ts';

const carry = async (...args: string[]): Promise<Child> => {
  const child = run(new URL('./run-process-child.js', import.meta.url), args);
  t.teardown(() => child.process.kill('SIGKILL'));
  await child.says('listening');
  return child;
};

const lines = (child: Child): unknown[] =>
  child
    .out()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

t.test('one line of JSON says when it listens, where and over which cluster', async (t) => {
  const child = await carry('0');
  t.match(lines(child), [{ level: 'info', msg: 'listening', url: 'http://127.0.0.1:1', cluster: 'genesis' }]);
  t.equal(lines(child).length, 1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} closes the gateway, then the process ends with 0`, async (t) => {
    const child = await carry('200');
    child.process.kill(signal);
    t.equal(await child.ended(), 0);
    t.match(child.out(), /"closing".*closed\n$/s);
  });
}

t.test('SIGHUP has it read its keys again, and it goes on', async (t) => {
  const child = await carry('0');
  child.process.kill('SIGHUP');
  await child.says('reloaded');
  child.process.kill('SIGTERM');
  t.equal(await child.ended(), 0);
});

t.test('a signal that comes twice at once, as Ctrl-C under npm does, counts once', async (t) => {
  const child = await carry('200');
  child.process.kill('SIGINT');
  await child.says('closing');
  child.process.kill('SIGINT');
  t.equal(await child.ended(), 0);
  t.match(child.out(), /closed/);
});

t.test('a second signal ends the process at once', async (t) => {
  const child = await carry('60000');
  child.process.kill('SIGTERM');
  await child.says('closing');
  await sleep(600);
  child.process.kill('SIGTERM');
  t.equal(await child.ended(), 1);
  t.notMatch(child.out(), /closed/);
});

for (const defect of ['throws', 'rejects']) {
  t.test(`a defect that ${defect} is logged with its stack and ends the process with 1, closed`, async (t) => {
    const child = await carry('50', defect);
    t.equal(await child.ended(), 1);
    t.match(lines(child)[1], { level: 'error', msg: 'a defect', err: { stack: /start-child/ } });
    t.match(child.out(), /closed/);
  });
}
