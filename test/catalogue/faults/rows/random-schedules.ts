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
      expectSome('carried on', sum.advanced),
      expectSome('lists kept live', sum.liveLists),
      expectSome('of what had been forgotten', sum.evicted),
      expectNone('false', sum.falseAnswers),
      expectNone('regressed', sum.regressions),
      expectNone('alarms', sum.detectedErrors),
      expectSome('slots that are lies', sum.lies),
      expectNone('believed', sum.believed),
      expectSome('false when armed with one read', weak.falseAnswers),
      expectSome('false when a pool is taken for one node', apart.falseAnswers),
      expectSome('false lists when deaf to accounts', deaf.falseLists),
    ];
  },
};
