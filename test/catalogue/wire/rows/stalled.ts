import { setTimeout as sleep } from 'node:timers/promises';
import { openPeers } from '../../../support/peer.ts';
import { percentile } from '../../../support/percentile.ts';
import { KEPT_BYTES, nudge, stall } from '../../../support/stall.ts';
import { shown, some } from '../../row.ts';
import { all, calmly, grownBy, type Pace, type Row, times } from '../row.ts';
import { onStage, type Stage } from '../stage.ts';
import { Readers } from '../websocket/readers.ts';

/** Of those who read, so many are timed: more would wait for each other in their own thread. */
const TIMED = 100;
/** Of the kernel's memory, which is everybody's, no more is taken: test:stalled has a thousand of them in it. */
const ROOM_BYTES = 2 ** 30;
const CALM_MS = 4000;
const PATIENCE_MS = 60_000;
const LATE_MS = 20;
/** A nudge is work for the gateway too. */
const NUDGE_MS = 250;

/** Half of the listeners read nothing; what waits for them is bounded, and then they are let go. */
export const stalled: Row = {
  id: '40',
  what: 'listeners who do not read, among as many who do',
  // A frame that waits for its turn behind another would be late by that.
  run: (_, pace) => onStage(['stream.throttleMs=1'], (stage) => play(stage, pace)),
};

async function play({ url, gateway, cluster }: Stage, pace: Pace) {
  const count = Math.min(times(pace, 5, 30, 1000), Math.floor(ROOM_BYTES / KEPT_BYTES));
  const timed = Math.min(TIMED, count);
  const stream = `${url.replace('http', 'ws')}/api/v1/stream`;
  const readers = await Readers.open({ url: stream, nodeUrl: cluster.wsUrl, count: timed });
  const others = await openPeers(url, count - timed);
  for (const { line } of others) line.drain();
  const stuck = await openPeers(url, count);
  const before = await gateway.rss();
  await readers.take();
  await sleep(CALM_MS);
  const calm = await readers.take();
  await stall(url, stuck);
  const full = await gateway.rss();
  await readers.take();
  const had = others.map(({ line }) => line.socket.bytesRead);
  const beganMs = performance.now();
  while (performance.now() - beganMs < PATIENCE_MS && !stuck.every(({ line }) => line.closed)) {
    for (const peer of stuck) nudge(peer);
    await sleep(NUDGE_MS);
  }
  const tookMs = performance.now() - beganMs;
  const busy = await readers.take();
  const letGo = stuck.filter(({ line }) => line.closed).length;
  const reading = others.filter(({ line }, i) => !line.closed && line.socket.bytesRead > (had[i] ?? 0)).length;
  for (const { line } of [...others, ...stuck]) line.cut();
  await readers.stop();
  return [
    all('stalled and let go', letGo, count),
    shown('after ms', tookMs),
    all('others still reading', busy.open + reading, count),
    some(`frames timed at ${timed} of them`, busy.latenessMs.length),
    shown('calm p99 behind the node', `${percentile(calm.latenessMs, 0.99).toFixed(1)} ms`),
    calmly(pace, 'p99 behind the node', percentile(busy.latenessMs, 0.99), LATE_MS, ' ms'),
    grownBy(before, full, 100),
  ];
}
