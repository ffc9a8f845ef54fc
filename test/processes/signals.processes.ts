import t from 'tap';
import { logLines, startStub } from '../support/stub-gateway.ts';

t.test('a terminal window that closes ends the gateway, closed', async (t) => {
  const child = await startStub(t, '50', 'none', '5000', 'terminal');
  child.process.kill('SIGHUP');
  t.equal(await child.exit(), 'SIGHUP');
  t.match(child.stdout(), /"closing".*closed\n$/s);
});

t.test('signals during the start are handled after it', async (t) => {
  const child = await startStub(t, '0', 'none', '5000', 'slow');
  child.process.kill('SIGHUP');
  child.process.kill('SIGUSR2');
  await child.waitForOutput('SIGUSR2 is ignored');
  await child.waitForOutput('reloaded');
});

t.test('a signal that comes twice in one moment, as Ctrl-C under npm does, counts once', async (t) => {
  const child = await startStub(t, '200');
  child.process.kill('SIGINT');
  await child.waitForOutput('closing');
  child.process.kill('SIGINT');
  t.equal(await child.exit(), 0);
  t.match(child.stdout(), /closed/);
});

t.test('a gateway that takes too long to close ends with 1, and says so', async (t) => {
  const child = await startStub(t, '60000', 'none', '300');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 1);
  t.match(child.stdout(), /closing took longer than 300 ms/);
});

t.test('a start that is refused behind the open port ends the process with its own code, closed', async (t) => {
  const child = await startStub(t, '50', 'refuses');
  t.equal(await child.exit(), 78);
  t.match(logLines(child)[1], { level: 'error', msg: 'the cluster is another one' });
  t.match(child.stdout(), /closed/);
});

t.test('an uncaught error ends the process with 1 where the closing waits for nothing that can come', async (t) => {
  t.equal(await (await startStub(t, '50', 'throws', '5000', 'idle')).exit(), 1);
});

for (const defect of ['throws', 'rejects']) {
  t.test(`an uncaught error that ${defect} is logged with its stack and ends the process with 1, closed`, async (t) => {
    const child = await startStub(t, '50', defect);
    t.equal(await child.exit(), 1);
    t.match(logLines(child)[1], { level: 'error', msg: 'an uncaught error', err: { stack: /run-process-child/ } });
    t.match(child.stdout(), /closed/);
  });
}
