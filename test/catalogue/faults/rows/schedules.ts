import { none, type Row, shown, some } from '../../row.ts';
import { deafToAccounts } from '../simulator/deaf-to-accounts.ts';
import { oneRead } from '../simulator/one-read.ts';
import { runSchedules } from '../simulator/schedule.ts';
import { withoutMargin } from '../simulator/without-margin.ts';

const STEPS = 600;

/** Random schedules of everything that can be late, lost, out of step or false, on a clock of their own. */
export const schedules: Row = {
  id: 'schedules',
  what: 'random schedules',
  async run(pace) {
    const count = pace.isFull ? 10_000 : 2000;
    const sum = await runSchedules(1, 1 + count, STEPS);
    const weak = await runSchedules(1, 301, 1000, { rule: oneRead });
    const apart = await runSchedules(1, 301, 1000, { pooled: true, rule: withoutMargin });
    const deaf = await runSchedules(1, 301, 1000, { listLine: deafToAccounts });
    return [
      shown('schedules', count),
      shown('answers', sum.answers),
      some('carried on', sum.carried),
      some('lists kept live', sum.liveLists),
      some('of what had been forgotten', sum.evicted),
      none('false', sum.falseAnswers),
      none('regressed', sum.regressions),
      none('alarms', sum.alarms),
      some('slots that are lies', sum.lies),
      none('believed', sum.believed),
      some('false when armed with one read', weak.falseAnswers),
      some('false when a pool is taken for one node', apart.falseAnswers),
      some('false lists when deaf to accounts', deaf.falseLists),
    ];
  },
};
