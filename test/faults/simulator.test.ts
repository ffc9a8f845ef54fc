import t from 'tap';
import { oneRead } from './simulator/one-read.ts';
import { runSchedules } from './simulator/schedule.ts';

t.test('no answer is false or goes back, whatever is late, lost, forgotten or out of step', async (t) => {
  const { answers, carried, carriedLists, evicted, lies, ...faults } = await runSchedules(1, 151, 700);
  t.match(faults, { falseAnswers: 0, regressions: 0, alarms: 0, believed: 0 });
  t.ok(carried > 100 && carriedLists > 10, `${carried} and ${carriedLists} of ${answers} answers were carried on`);
  t.ok(evicted > 100, `${evicted} had been forgotten`);
  t.ok(lies > 100, `${lies} lies were told`);
});

t.test('the same schedules find the fault of arming with one read', async (t) => {
  const { falseAnswers, alarms } = await runSchedules(1, 101, 1000, oneRead);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
  t.ok(alarms > 0, `the gateway itself found out ${alarms}`);
});
