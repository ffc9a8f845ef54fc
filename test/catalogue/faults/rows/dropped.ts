import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { below, holds, none, type Row, shown, some, within } from '../../row.ts';
import { onStage } from '../stage.ts';

const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 1000;

/** All WebSockets of the only node reset again and again. */
export const dropped: Row = {
  id: '30',
  what: 'all connections of the only node reset again and again',
  run: (pace) =>
    onStage({ nodes: 1, proxied: true, load: { rate: 20 }, verifyEvery: 1 }, async (stage) => {
      const [proxy] = stage.proxies;
      const slotsAt: number[] = [];
      const stream = new WebSocket(`${stage.url.replace('http', 'ws')}/api/v1/stream`);
      let newest = 0;
      stream.on('message', (frame) => {
        const { slot }: { slot: number } = JSON.parse(String(frame));
        if (slot <= newest) return;
        newest = slot;
        slotsAt.push(performance.now());
      });
      await sleep(3000);
      stage.load.take();
      const [drops, everyMs] = pace.isFull ? [30, 10_000] : [5, 4000];
      const pausesMs: number[] = [];
      const [cpu, beganMs] = [await stage.gateway.cpuSeconds(), performance.now()];
      for (let drop = 0; drop < drops; drop++) {
        const droppedMs = performance.now();
        const opened = proxy?.webSocketsAtMs.length ?? 0;
        proxy?.cut();
        await sleep(everyMs);
        pausesMs.push(...(proxy?.webSocketsAtMs.slice(opened) ?? []).map((atMs) => atMs - droppedMs));
      }
      const share = (100 * ((await stage.gateway.cpuSeconds()) - cpu)) / ((performance.now() - beganMs) / 1000);
      const gapMs = slotsAt.reduce((most, atMs, index) => Math.max(most, atMs - (slotsAt[index - 1] ?? atMs)), 0);
      stream.terminate();
      const tally = stage.load.take();
      return [
        shown('drops', drops),
        within(pace, 'longest without a slot', gapMs, 2000),
        some('WebSockets opened again', pausesMs.length),
        holds(`none sooner than ${Math.min(...pausesMs).toFixed(0)} ms`, Math.min(...pausesMs) >= BACKOFF_MIN_MS - 5),
        within(pace, 'nor later', Math.max(...pausesMs), BACKOFF_MAX_MS + 200),
        none('wrong', tally.wrong),
        none('regressed', tally.regressed),
        below(pace, 'processor', share, 5, '%'),
      ];
    }),
};
