import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { type FaultTestbed, withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

/** Latency below which twice as long is acceptable. */
const QUICK_MS = 5;
/** Maximum event-loop delay by the gateway's own work. */
const MAX_LOOP_DELAY_MS = 50;

/** Answers that are far too long, or never end. */
export const oversizedAnswers: FaultRow = {
  id: '36',
  title: 'getBlock of 50 MB, then one that never ends',
  run: (pace) =>
    withFaultTestbed({ set: ['upstream.slowTimeoutMs=4000'] }, async (testbed) => {
      const { load, gateway } = testbed;
      await sleep(3000);
      load.takeTally();
      gateway.takeLoopDelay();
      await sleep(pace.isFull ? 20_000 : 6000);
      const before = load.takeTally();
      const idle = gateway.takeLoopDelay();
      const large = await requestBlocks(testbed, '50 MB', pace.isFull ? 10 : 4);
      const drip = await requestBlocks(testbed, 'slow drip', 1);
      const during = load.takeTally();
      const busy = gateway.takeLoopDelay();
      const p99Ms = before.quantileMs(0.99);
      return [
        ...answerFindings(during),
        expectFewFailures(pace, during),
        expect(`too long: ${large}`, large === '413 result_too_large'),
        expect(`never ends: ${drip}`, drip === '504 upstream_timeout'),
        info('p99 of the others before ms', p99Ms),
        expectWithinMs(pace, 'and during', during.quantileMs(0.99), 2 * Math.max(QUICK_MS, p99Ms)),
        expectWithinMs(pace, 'loop held up by its own work', busy.ownMs, MAX_LOOP_DELAY_MS),
        info('and by all on this machine ms', busy.wholeMs),
        info('before that', idle.wholeMs),
      ];
    }),
};

/** Requests blocks while the nodes fail in one way; returns each different outcome once. */
async function requestBlocks(
  { chain, nodes, url }: FaultTestbed,
  failure: '50 MB' | 'slow drip',
  times: number,
): Promise<string> {
  for (const node of nodes) await node.configure({ failures: { getBlock: failure } });
  const outcomes = new Set<string>();
  const newest = chain.newestSlotAt('confirmed', chain.processedSlotAt(Date.now()));
  for (let back = 0; back < times; back++) {
    const response = await fetch(`${url}/api/v1/block/${newest - back - 1}`);
    const { error }: any = await response.json();
    outcomes.add(`${response.status} ${error}`);
  }
  return [...outcomes].join();
}
