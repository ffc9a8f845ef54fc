import { expectBelow, expectNone, expectSome, type Finding, info, type RunLength } from '../../findings.ts';
import type { Tally } from '../tally.ts';

/** Returns the findings that must hold whatever happens to the nodes. */
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

/** Returns the share of failed requests, which must be small while one node is healthy. */
export function expectFewFailures(runLength: RunLength, tally: Tally): Finding {
  for (const [failure, count] of tally.failures) console.error(`${count} x ${failure}`);
  return expectBelow(runLength, 'failed', (100 * tally.failed) / tally.requested, 0.1, '%');
}
