import { setTimeout as sleep } from 'node:timers/promises';
import { holds, type Row, shown, within } from '../../row.ts';
import { onStage, type Stage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

/** Below this, twice as long is nobody's loss. */
const QUICK_MS = 5;
/** For longer nobody must wait for the gateway's work. */
const LOOP_MS = 50;

/** Answers that are far too long, or never end. */
export const oversized: Row = {
  id: '36',
  what: 'getBlock of 50 MB, then one that drips for ever',
  run: (pace) =>
    onStage({ set: ['upstream.slowTimeoutMs=4000'] }, async (stage) => {
      const { load, gateway } = stage;
      await sleep(3000);
      load.take();
      gateway.takeHoldUp();
      await sleep(pace.isFull ? 20_000 : 6000);
      const before = load.take();
      const idle = gateway.takeHoldUp();
      const large = await ask(stage, '50 MB', pace.isFull ? 10 : 4);
      const drip = await ask(stage, 'slow drip', 1);
      const during = load.take();
      const busy = gateway.takeHoldUp();
      const p99Ms = before.quantileMs(0.99);
      return [
        ...truthOf(during),
        fewFailed(pace, during),
        holds(`too long: ${large}`, large === '413 result_too_large'),
        holds(`never ends: ${drip}`, drip === '504 upstream_timeout'),
        shown('p99 of the others before ms', p99Ms),
        within(pace, 'and during', during.quantileMs(0.99), 2 * Math.max(QUICK_MS, p99Ms)),
        within(pace, 'loop held up by its own work', busy.ownMs, LOOP_MS),
        shown('and by all on this machine ms', busy.wholeMs),
        shown('before that', idle.wholeMs),
      ];
    }),
};

/** Asks for blocks while the nodes fail like this; what came of it, each different outcome once. */
async function ask({ chain, nodes, url }: Stage, failure: '50 MB' | 'slow drip', times: number): Promise<string> {
  for (const node of nodes) await node.take({ failures: { getBlock: failure } });
  const outcomes = new Set<string>();
  const newest = chain.reached('confirmed', chain.processedAt(Date.now()));
  for (let back = 0; back < times; back++) {
    const response = await fetch(`${url}/api/v1/block/${newest - back - 1}`);
    const { error }: any = await response.json();
    outcomes.add(`${response.status} ${error}`);
  }
  return [...outcomes].join();
}
