import { expectNone, expectSome, type FaultRow, info } from '../../findings.ts';
import { noMarginRule } from '../simulator/no-margin-rule.ts';
import { runSchedules } from '../simulator/random-schedule.ts';
import { singleReadRule } from '../simulator/single-read-rule.ts';
import { withoutAccountNotifications } from '../simulator/without-account-notifications.ts';

const STEPS = 600;

/** Random schedules of late, lost, reordered and false messages, on a manual clock. */
export const randomSchedules: FaultRow = {
  id: 'schedules',
  title: 'random schedules',
  async run(runLength) {
    const count = runLength.isFull ? 10_000 : 2000;
    const sum = await runSchedules(1, 1 + count, STEPS);
    const weak = await runSchedules(1, 301, 1000, { rule: singleReadRule });
    const apart = await runSchedules(1, 301, 1000, { pooled: true, rule: noMarginRule });
    const deaf = await runSchedules(1, 301, 1000, { listSession: withoutAccountNotifications });
    return [
      info('schedules', count),
      info('answers', sum.answers),
      expectSome('advanced by a lease', sum.advanced),
      expectSome('live lists', sum.liveLists),
      expectSome('requests for evicted keys', sum.evicted),
      expectNone('false', sum.falseAnswers),
      expectNone('regressed', sum.regressions),
      expectNone('violated leases detected', sum.detectedErrors),
      expectSome('false slots', sum.lies),
      expectNone('accepted', sum.believed),
      expectSome('false with one read in the initial sync', weak.falseAnswers),
      expectSome('false with a pool treated as one node', apart.falseAnswers),
      expectSome('false lists without account notifications', deaf.falseLists),
    ];
  },
};
