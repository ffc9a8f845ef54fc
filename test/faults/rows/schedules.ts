import { none, type Row, shown, some } from '../row.ts';
import { oneRead } from '../simulator/one-read.ts';
import { runSchedules } from '../simulator/schedule.ts';

const STEPS = 600;

/** Random schedules of everything that can be late, lost, out of step or false, on a clock of their own. */
export const schedules: Row = {
  id: 'schedules',
  what: 'random schedules',
  async run(pace) {
    const count = pace.isFull ? 10_000 : 2000;
    const { answers, carried, carriedLists, falseAnswers, regressions, alarms } = await runSchedules(
      1,
      1 + count,
      STEPS,
    );
    const weak = await runSchedules(1, 301, 1000, oneRead);
    return [
      shown('schedules', count),
      shown('answers', answers),
      some('carried on', carried),
      some('lists carried on', carriedLists),
      none('false', falseAnswers),
      none('regressed', regressions),
      none('alarms', alarms),
      some('false when armed with one read', weak.falseAnswers),
    ];
  },
};
