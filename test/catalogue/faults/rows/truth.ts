import { below, type Finding, none, type Pace, shown, some } from '../../row.ts';
import type { Tally } from '../tally.ts';

/** What must hold of the answers whatever is done to the nodes. */
export function truthOf(tally: Tally): Finding[] {
  for (const example of tally.examples) console.error(example);
  return [
    shown('answers', tally.answered),
    none('wrong', tally.wrong),
    none('regressed', tally.regressed),
    none('leaked', tally.leaked),
    some('receipts verified', tally.verified),
  ];
}

/** Of the requests so many may fail while one node is as it should be. */
export function fewFailed(pace: Pace, tally: Tally): Finding {
  for (const [failure, count] of tally.failures) console.error(`${count} x ${failure}`);
  return below(pace, 'failed', (100 * tally.failed) / tally.asked, 0.1, '%');
}
