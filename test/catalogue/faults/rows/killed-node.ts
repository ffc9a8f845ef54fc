import { setTimeout as sleep } from 'node:timers/promises';
import { expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

const DOWN_MS = 4000;
const UP_MS = 3000;
const RATE = 5000;

/** SIGKILL and restart of one of two nodes under load. */
export const killedNode: FaultRow = {
  id: '26',
  title: 'one of two nodes killed (SIGKILL) and restarted repeatedly',
  run: (runLength) =>
    withFaultTestbed({ load: { requestsPerSecond: RATE }, verifyEvery: 1000 }, async (testbed) => {
      const { load } = testbed;
      const failoversMs: number[] = [];
      const returnsMs: number[] = [];
      let coldMs = 0; // time of the last answer to a read that the cache could not serve
      load.onAnswer = ({ status, path, atMs }) => {
        if (status === 200 && path.startsWith('/balance/') && !path.includes('?')) coldMs = atMs;
      };
      await sleep(UP_MS);
      load.takeTally();
      const cycles = runLength.isFull ? 10 : 2;
      for (let cycle = 0; cycle < cycles; cycle++) {
        await testbed.kill(cycle % 2);
        const killedMs = performance.now();
        let gapMs = 0; // the longest time without such an answer
        for (let last = coldMs; performance.now() - killedMs < DOWN_MS; last = coldMs) {
          await sleep(1);
          gapMs = Math.max(gapMs, coldMs - last);
        }
        failoversMs.push(gapMs);
        await testbed.restart(cycle % 2);
        returnsMs.push(
          await testbed.waitUntilNode(cycle % 2, ({ status, ws }) => status === 'ok' && ws === 'up', 15_000),
        );
        await sleep(UP_MS);
      }
      const tally = load.takeTally();
      return [
        info('cycles', cycles),
        info('requests/s', tally.answered / tally.seconds),
        info('not sent', tally.skipped),
        ...answerFindings(tally),
        expectFewFailures(runLength, tally),
        expectWithinMs(runLength, 'failover', Math.max(...failoversMs), 1000),
        expectWithinMs(runLength, 'back in rotation', Math.max(...returnsMs), 5000),
      ];
    }),
};
