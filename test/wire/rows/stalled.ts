import { setTimeout as sleep } from 'node:timers/promises';
import { shown } from '../../faults/row.ts';
import { all, grownBy, type Row, times } from '../row.ts';
import { Peer } from '../websocket/peer.ts';
import { nudge, stall } from '../websocket/stall.ts';

const PATIENCE_MS = 60_000;

/** Half of the listeners read nothing; what waits for them is bounded, and then they are let go. */
export const stalled: Row = {
  id: '40',
  what: 'listeners who do not read, among others who do',
  async run({ url, gateway }, pace) {
    const count = times(pace, 5, 30, 100);
    const open = (): Promise<readonly Peer[]> => Promise.all(Array.from({ length: count }, () => Peer.open(url)));
    const readers = await open();
    const stuck = await open();
    const before = await gateway.rss();
    const had = readers.map(({ frames }) => frames.length);
    await stall(url, stuck);
    const full = await gateway.rss();
    const beganMs = performance.now();
    while (performance.now() - beganMs < PATIENCE_MS && !stuck.every(({ line }) => line.closed)) {
      for (const peer of stuck) nudge(peer);
      await sleep(50);
    }
    const tookMs = performance.now() - beganMs;
    const letGo = stuck.filter(({ line }) => line.closed).length;
    const reading = readers.filter(({ code }) => code === undefined).length;
    const gained = readers.filter(({ frames }, i) => frames.length > (had[i] ?? 0)).length;
    for (const { line } of [...readers, ...stuck]) line.cut();
    return [
      all('stalled and let go', letGo, count),
      shown('after ms', tookMs),
      all('others still listening', reading, count),
      all('with new frames', gained, count),
      grownBy(before, full, 100),
    ];
  },
};
