import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startStepped, waitFor } from '../support/harness.ts';

t.test('when the only node has gone back, health names it and the reason (I13)', async (t) => {
  const { get, step, cluster, clock } = await startStepped(t, { perSlot: 0, set: ['cache.maxStaleSlots=20'] });
  await step(4);
  const before = cluster.chain.slot('processed');
  await cluster.control.skewSlots(-1400);
  const pass = async (): Promise<void> => {
    clock.advance(400);
    await sleep(4);
  };
  await waitFor(async () => {
    await pass();
    return (await get('/health')).json.result.upstreams[0].status === 'down';
  }, 'the refusal');
  const { result } = (await get('/health')).json;
  t.equal(result.status, 'degraded', 'the last answers may still be given');
  t.same(Object.keys(result.upstreams[0]), ['id', 'status', 'slot', 'behindSlots', 'ws']);
  t.equal(result.embedded, null, 'these nodes are configured');
  await waitFor(async () => {
    await pass();
    return (await get('/health')).status === 503;
  }, 'bad health');
  const { error, message } = (await get('/health')).json;
  t.equal(error, 'unhealthy');
  const pattern = /^no new slot for \d+ s; node-1: it went back from slot (\d+) to (\d+)$/.exec(message);
  t.ok(pattern !== null, message);
  const [from, to] = [Number(pattern?.[1]), Number(pattern?.[2])];
  t.ok(from >= before - 64 && from - to > 1000, `${from} to ${to}`);
});

t.test('when a cluster has no new slots, health names the node that shows none', async (t) => {
  const set = ['cache.maxStaleSlots=20', 'upstream.silenceMs=4000'];
  const { get, cluster, clock, logged } = await startStepped(t, { perSlot: 0, set });
  await cluster.control.pauseSlots();
  await waitFor(async () => {
    clock.advance(400);
    await sleep(4);
    return (await get('/health')).status === 503;
  }, 'bad health');
  t.match((await get('/health')).json.message, /^no new slot for \d+ s; node-1: its slot does not advance$/);
  const messages = (pattern: RegExp): string[] =>
    logged.map(({ message }) => message).filter((message) => pattern.test(message));
  const pass = async (): Promise<void> => {
    clock.advance(400);
    await sleep(4);
  };
  for (let n = 0; n < 50; n++) await pass();
  t.match(messages(/^unhealthy/), [/^unhealthy: no new slot for \d+ s; node-1: its slot does not advance$/], 'once');
  t.match(messages(/^unavailable/), [/^unavailable: its slot does not advance \(http:\/\/127\.0\.0\.1:\d+\)$/], 'once');
  await cluster.control.resumeSlots();
  await waitFor(async () => {
    await pass();
    return messages(/^healthy again$/).length > 0 && messages(/^available again$/).length > 0;
  }, 'good health');
});
