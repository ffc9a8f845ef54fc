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
  await waitFor(async () => {
    await pass();
    return (await get('/health')).status === 503;
  }, 'bad health');
  const { error, message } = (await get('/health')).json;
  t.equal(error, 'unhealthy');
  const pattern = /^no new slot for \d+ s; node-1 is quarantined: it went back from slot (\d+) to (\d+)$/.exec(message);
  t.ok(pattern !== null, message);
  const [from, to] = [Number(pattern?.[1]), Number(pattern?.[2])];
  t.ok(from >= before - 64 && from - to > 1000, `${from} to ${to}`);
});

t.test('a cluster without new slots is not blamed on a node', async (t) => {
  const { get, cluster, clock } = await startStepped(t, { perSlot: 0, set: ['cache.maxStaleSlots=20'] });
  await cluster.control.pauseSlots();
  await waitFor(async () => {
    clock.advance(400);
    await sleep(4);
    return (await get('/health')).status === 503;
  }, 'bad health');
  t.match((await get('/health')).json.message, /^no new slot for \d+ s$/);
});
