import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectNone, expectSome, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import type { ObservedAnswer } from '../load-generator.ts';
import { answerFindings } from './answer-findings.ts';

const SLOT_MS = 400;
/** Time within which an answer may still arrive that was in flight when the nodes ended. */
const IN_FLIGHT_MS = 200;

/** All nodes down for longer than an answer may be stale. */
export const allNodesDown: FaultRow = {
  id: '27',
  title: 'both nodes killed',
  run(runLength) {
    const downMs = runLength.isFull ? 30_000 : 10_000;
    const maxStaleSlots = runLength.isFull ? 50 : 15;
    const staleMs = maxStaleSlots * SLOT_MS;
    const set = [`cache.maxStaleSlots=${maxStaleSlots}`];
    return withFaultTestbed({ set, load: { requestsPerSecond: 500 }, verifyEvery: 10 }, async (testbed) => {
      const { load } = testbed;
      const hot = `/balance/${load.hotAccounts[0]}?commitment=confirmed`;
      await sleep(5000); // until the hot accounts are live
      load.takeTally();
      const seen: ObservedAnswer[] = [];
      load.onAnswer = (one) => {
        if (one.path === hot || one.path === '/slot') seen.push(one);
      };
      await Promise.all([testbed.kill(0), testbed.kill(1)]);
      const killedMs = performance.now();
      const degradedMs = await testbed.waitUntil(async () => (await testbed.health()).status !== 'ok');
      const healthTally = await testbed.health();
      await sleep(downMs - (performance.now() - killedMs));

      const down = seen.splice(0).filter(({ atMs }) => atMs - killedMs > IN_FLIGHT_MS);
      const ages = down.filter(({ status }) => status === 200).map(({ atMs }) => atMs - killedMs);
      const slots = new Set(
        down.map(({ path, slot }) => `${path} ${slot}`).filter((name) => !name.endsWith('undefined')),
      );
      const early = down.filter(({ status, atMs }) => status !== 200 && atMs - killedMs < staleMs - 1000);
      const late = down.filter(({ atMs }) => atMs - killedMs > staleMs + 1000);
      const refused = late.filter(({ status, retryAfter }) => status === 503 && retryAfter !== undefined);

      await Promise.all([testbed.restart(0), testbed.restart(1)]);
      const backMs = performance.now();
      await testbed.waitUntil(() =>
        seen.some(({ path, status, source }) => path === '/slot' && status === 200 && source === 'HIT'),
      );
      const slotMs = performance.now() - backMs;
      await testbed.waitUntil(() =>
        seen.some(({ path, status, source }) => path === hot && status === 200 && source !== 'STALE'),
      );
      const hotMs = performance.now() - backMs;
      const tally = load.takeTally();
      return [
        info('seconds', downMs / 1000),
        ...answerFindings(tally),
        expectWithinMs(runLength, 'degraded after', degradedMs, 2000),
        expect('health names the nodes', healthTally.upstreams.length === 2),
        expectSome('answers from the cache', ages.length),
        expectWithinMs(runLength, 'the last of them at', Math.max(...ages), staleMs + 1000),
        expect('each at the slot from before', slots.size === 2),
        expectNone('refused too early', early.length),
        expectSome('then 503 with Retry-After', refused.length),
        expectNone('anything else', late.length - refused.length),
        expectWithinMs(runLength, 'slots go on after', slotMs, 2000),
        expectWithinMs(runLength, 'accounts after', hotMs, 2000),
      ];
    });
  },
};
