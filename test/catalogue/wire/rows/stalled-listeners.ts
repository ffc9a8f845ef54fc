import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../../support/percentile.ts';
import { KERNEL_BUFFER_BYTES, pingPeer, stallPeers } from '../../../support/stalled-peers.ts';
import { openPeers } from '../../../support/websocket-peer.ts';
import { expectSome, info } from '../../findings.ts';
import { StreamReaders } from '../websocket/stream-readers.ts';
import { countFor, expectAll, expectBelowWhenQuiet, expectGrowth, type RunLength, type WireRow } from '../wire-row.ts';
import { type WireTestbed, withWireTestbed } from '../wire-testbed.ts';

/** Number of timed readers: more would delay each other in their thread. */
const TIMED = 100;
/** Bound on kernel memory, which all connections share; test:stalled runs a thousand listeners within it. */
const KERNEL_MEMORY_BYTES = 2 ** 30;
const CALM_MS = 4000;
const PATIENCE_MS = 60_000;
const LATE_MS = 20;
/** Interval between pings, which are work for the gateway too. */
const NUDGE_MS = 250;

/** Half of the listeners read nothing; what is buffered for them is bounded, and then they are closed. */
export const stalledListeners: WireRow = {
  id: '40',
  title: 'listeners that do not read, among as many that do',
  // A throttled frame would be late by the throttle's time.
  run: (_, pace) => withWireTestbed(['stream.throttleMs=1'], (testbed) => runStalled(testbed, pace)),
};

async function runStalled({ url, gateway, cluster }: WireTestbed, pace: RunLength) {
  const count = Math.min(countFor(pace, 5, 30, 1000), Math.floor(KERNEL_MEMORY_BYTES / KERNEL_BUFFER_BYTES));
  const timed = Math.min(TIMED, count);
  const stream = `${url.replace('http', 'ws')}/api/v1/stream`;
  const readers = await StreamReaders.open({ url: stream, nodeUrl: cluster.wsUrl, count: timed });
  const others = await openPeers(url, count - timed);
  for (const { connection } of others) connection.discardData();
  const stuck = await openPeers(url, count);
  const before = await gateway.memory();
  await readers.takeReport();
  await sleep(CALM_MS);
  const calm = await readers.takeReport();
  await stallPeers(url, stuck);
  const full = await gateway.memory();
  await readers.takeReport();
  const had = others.map(({ connection }) => connection.socket.bytesRead);
  const beganMs = performance.now();
  while (performance.now() - beganMs < PATIENCE_MS && !stuck.every(({ connection }) => connection.closed)) {
    for (const peer of stuck) pingPeer(peer);
    await sleep(NUDGE_MS);
  }
  const tookMs = performance.now() - beganMs;
  const busy = await readers.takeReport();
  const letGo = stuck.filter(({ connection }) => connection.closed).length;
  const reading = others.filter(
    ({ connection }, i) => !connection.closed && connection.socket.bytesRead > (had[i] ?? 0),
  ).length;
  for (const { connection } of [...others, ...stuck]) connection.reset();
  await readers.stop();
  return [
    expectAll('stalled and closed', letGo, count),
    info('after ms', tookMs),
    expectAll('others still reading', busy.open + reading, count),
    expectSome(`frames timed at ${timed} of them`, busy.latenessMs.length),
    info('calm p99 behind the node', `${percentile(calm.latenessMs, 0.99).toFixed(1)} ms`),
    expectBelowWhenQuiet(pace, 'p99 behind the node', percentile(busy.latenessMs, 0.99), LATE_MS, ' ms'),
    ...expectGrowth(before, full, { kept: 20, resident: 100 }),
  ];
}
