import { expectBelow, expectNone, expectSome, type Finding, info, type RunLength } from '../../findings.ts';
import type { Tally } from '../tally.ts';

/** What must hold of the answers whatever is done to the nodes. */
export function answerFindings(tally: Tally): Finding[] {
  for (const example of tally.examples) console.error(example);
  return [
    info('answers', tally.answered),
    expectNone('wrong', tally.wrong),
    expectNone('regressed', tally.regressed),
    expectNone('leaked', tally.leaked),
    expectSome('receipts verified', tally.verified),
  ];
}

/** Of the requests so many may fail while one node is as it should be. */
export function expectFewFailures(pace: RunLength, tally: Tally): Finding {
  for (const [failure, count] of tally.failures) console.error(`${count} x ${failure}`);
  return expectBelow(pace, 'failed', (100 * tally.failed) / tally.requested, 0.1, '%');
}
