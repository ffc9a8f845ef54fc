import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectNone, expectWithinMs, type FaultRow } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

/** Lag in slots above which a node must not be used. */
const OUT_SLOTS = 20;

/** A node that reports itself healthy and is far behind. */
export const laggingNode: FaultRow = {
  id: '32',
  title: 'one of two nodes 200 slots behind, with getHealth ok',
  run: (runLength) =>
    withFaultTestbed({ load: { requestsPerSecond: 1000 } }, async (testbed) => {
      const { load, nodes, chain } = testbed;
      await sleep(3000);
      load.takeTally();
      let old = 0;
      load.onAnswer = ({ path, slot, status }) => {
        const commitment = path.includes('finalized') ? 'finalized' : 'confirmed';
        const newest = chain.newestSlotAt(commitment, chain.processedSlotAt(Date.now()));
        if (status === 200 && path.startsWith('/balance') && slot !== undefined && newest - slot > OUT_SLOTS) old++;
      };
      await nodes[0]?.configure({ lagSlots: 200 });
      const outMs = await testbed.waitUntilNode(0, ({ status }) => status !== 'ok');
      await sleep(runLength.isFull ? 20_000 : 5000);
      await nodes[0]?.configure({ lagSlots: 15 });
      await sleep(3000);
      const isOut = (await testbed.health()).upstreams[0]?.status !== 'ok';
      await nodes[0]?.configure({ lagSlots: 8 });
      const backMs = await testbed.waitUntilNode(0, ({ status }) => status === 'ok');
      const tally = load.takeTally();
      return [
        ...answerFindings(tally),
        expectFewFailures(runLength, tally),
        expectNone('answers from so far back', old),
        expectWithinMs(runLength, 'out after', outMs, 2000),
        expect('still out at 15 behind', isOut),
        expectWithinMs(runLength, 'back at 8 behind after', backMs, 3000),
      ];
    }),
};
