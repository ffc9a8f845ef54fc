import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectNone, expectWithinMs, type FaultRow } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

/** A node that suddenly reports slots far ahead of all others. */
export const lyingNode: FaultRow = {
  id: '33',
  title: 'one of two nodes reports slot + 10,000',
  run: (runLength) =>
    withFaultTestbed({ load: { requestsPerSecond: 1000 } }, async (testbed) => {
      const { load, nodes, chain } = testbed;
      await sleep(3000);
      load.takeTally();
      await nodes[0]?.configure({ slotOffset: 10_000 });
      const outMs = await testbed.waitUntilNode(0, ({ status }) => status !== 'ok');
      let ahead = 0;
      const watching = setInterval(async () => {
        const { slot } = await testbed.health();
        ahead = Math.max(ahead, slot - chain.processedSlotAt(Date.now()));
      }, 100);
      await sleep(runLength.isFull ? 20_000 : 5000);
      clearInterval(watching);
      const { status } = await testbed.health();
      await nodes[0]?.configure({ slotOffset: 0 });
      const backMs = await testbed.waitUntilNode(0, (node) => node.status === 'ok' && node.ws === 'up');
      const tally = load.takeTally();
      return [
        ...answerFindings(tally),
        expectFewFailures(runLength, tally),
        expectNone('slots ahead of the truth', Math.max(0, ahead)),
        expect(`health is ${status}`, status === 'degraded'),
        expectWithinMs(runLength, 'out after', outMs, 2000),
        expectWithinMs(runLength, 'back after true slots again', backMs, 3000),
      ];
    }),
};
