import t from 'tap';
import { oneRead } from './simulator/one-read.ts';
import { runSchedules } from './simulator/schedule.ts';

t.test('no answer is false or goes back, whatever is late, lost or out of step', async (t) => {
  const { answers, carried, carriedLists, falseAnswers, regressions, alarms } = await runSchedules(1, 151, 700);
  t.match({ falseAnswers, regressions, alarms }, { falseAnswers: 0, regressions: 0, alarms: 0 });
  t.ok(carried > 400 && carriedLists > 20, `${carried} and ${carriedLists} of ${answers} answers were carried on`);
});

t.test('the same schedules find the fault of arming with one read', async (t) => {
  const { falseAnswers, alarms } = await runSchedules(1, 61, 800, oneRead);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
  t.ok(alarms > 0, `the gateway itself found out ${alarms}`);
});
