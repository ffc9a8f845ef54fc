import { setTimeout as sleep } from 'node:timers/promises';
import { expectBelow, expectNone, expectWithinMs, type FaultRow, info } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

const DEADLINE_MS = 2000;
/** Tolerance for a deadline: the timers of two busy processes. */
const LATE_MS = 100;

/** A node whose process is stopped. */
export const hungNode: FaultRow = {
  id: '28',
  title: 'one of two nodes stopped (SIGSTOP)',
  run: (runLength) =>
    withFaultTestbed({ proxied: true, load: { requestsPerSecond: 2000 }, verifyEvery: 200 }, async (testbed) => {
      const { load, nodes, proxies } = testbed;
      await sleep(3000);
      load.takeTally();
      proxies[0]?.takePeakConnections();
      nodes[0]?.suspend();
      await sleep(runLength.isFull ? 20_000 : 6000);
      const most = proxies[0]?.takePeakConnections() ?? 0;
      const tally = load.takeTally();
      nodes[0]?.resume();
      const backMs = await testbed.waitUntilNode(0, ({ status, ws }) => status === 'ok' && ws === 'up');
      const after = load.takeTally();
      return [
        ...answerFindings(tally),
        expectNone('wrong or regressed afterwards', after.wrong + after.regressed),
        expectFewFailures(runLength, tally),
        info('p99 ms', tally.quantileMs(0.99)),
        expectWithinMs(runLength, 'slowest', tally.slowestMs, DEADLINE_MS + LATE_MS),
        expectBelow(runLength, 'connections to it at most', most, 65),
        expectWithinMs(runLength, 'back after', backMs, 5000),
      ];
    }),
};
