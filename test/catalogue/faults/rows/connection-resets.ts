import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { expect, expectBelow, expectNone, expectSome, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';

const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 1000;

/** All connections of the only node reset repeatedly. */
export const connectionResets: FaultRow = {
  id: '30',
  title: 'all connections of the only node reset repeatedly',
  run: (runLength) =>
    withFaultTestbed({ nodes: 1, proxied: true, load: { requestsPerSecond: 20 }, verifyEvery: 1 }, async (testbed) => {
      const [proxy] = testbed.proxies;
      const slotsAt: number[] = [];
      const stream = new WebSocket(`${testbed.url.replace('http', 'ws')}/api/v1/stream`);
      let newest = 0;
      stream.on('message', (frame) => {
        const { slot }: { slot: number } = JSON.parse(String(frame));
        if (slot <= newest) return;
        newest = slot;
        slotsAt.push(performance.now());
      });
      await sleep(3000);
      testbed.load.takeTally();
      const [drops, everyMs] = runLength.isFull ? [30, 10_000] : [5, 4000];
      const pausesMs: number[] = [];
      const [cpu, beganMs] = [await testbed.gateway.cpuSeconds(), performance.now()];
      for (let drop = 0; drop < drops; drop++) {
        const droppedMs = performance.now();
        const opened = proxy?.webSocketsAtMs.length ?? 0;
        proxy?.resetConnections();
        await sleep(everyMs);
        pausesMs.push(...(proxy?.webSocketsAtMs.slice(opened) ?? []).map((atMs) => atMs - droppedMs));
      }
      const share = (100 * ((await testbed.gateway.cpuSeconds()) - cpu)) / ((performance.now() - beganMs) / 1000);
      const gapMs = slotsAt.reduce((most, atMs, index) => Math.max(most, atMs - (slotsAt[index - 1] ?? atMs)), 0);
      stream.terminate();
      const tally = testbed.load.takeTally();
      return [
        info('drops', drops),
        expectWithinMs(runLength, 'longest without a slot', gapMs, 2000),
        expectSome('WebSockets reopened', pausesMs.length),
        expect(`none sooner than ${Math.min(...pausesMs).toFixed(0)} ms`, Math.min(...pausesMs) >= BACKOFF_MIN_MS - 5),
        expectWithinMs(runLength, 'nor later', Math.max(...pausesMs), BACKOFF_MAX_MS + 200),
        expectNone('wrong', tally.wrong),
        expectNone('regressed', tally.regressed),
        expectBelow(runLength, 'CPU', share, 5, '%'),
      ];
    }),
};
