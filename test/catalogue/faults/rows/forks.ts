import { setTimeout as sleep } from 'node:timers/promises';
import { expectNone, expectSome, type FaultRow, info } from '../../findings.ts';
import { withFaultTestbed } from '../fault-testbed.ts';
import { answerFindings, expectFewFailures } from './answer-findings.ts';

/**
 * Slots after which no answer may be from an abandoned slot: two are abandoned at a time, and an answer takes its time.
 */
const LATE_SLOTS = 5;

/** Slots that are processed and then abandoned, repeatedly. */
export const forks: FaultRow = {
  id: '35',
  title: 'two of ten slots are processed and rolled back',
  run: (runLength) =>
    withFaultTestbed(
      {
        plan: { forks: true },
        load: { requestsPerSecond: 1000, commitments: ['processed', 'confirmed', 'finalized'] },
      },
      async (testbed) => {
        const { load, chain } = testbed;
        let [abandoned, kept, late] = [0, 0, 0];
        load.onAnswer = ({ path, slot = 0 }) => {
          if (!path.startsWith('/balance') || !chain.isAbandoned(slot)) return;
          if (path.includes('processed')) abandoned++;
          else kept++;
          if (chain.processedSlotAt(Date.now()) > slot + LATE_SLOTS) late++;
        };
        await sleep(3000);
        load.takeTally();
        await sleep(runLength.isFull ? 40_000 : 12_000);
        const tally = load.takeTally();
        return [
          ...answerFindings(tally),
          expectFewFailures(runLength, tally),
          info('slowest ms', tally.slowestMs),
          expectSome('processed answers from an abandoned branch', abandoned),
          expectNone('confirmed or finalized ones', kept),
          expectNone('of either, long after the branch was abandoned', late),
        ];
      },
    ),
};
