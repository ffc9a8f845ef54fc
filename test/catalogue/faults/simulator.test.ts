import t from 'tap';
import { deafToAccounts } from './simulator/deaf-to-accounts.ts';
import { oneRead } from './simulator/one-read.ts';
import { runSchedules } from './simulator/schedule.ts';
import { withoutMargin } from './simulator/without-margin.ts';

t.test('no answer is false or goes back, whatever is late, lost, forgotten or out of step', async (t) => {
  const { answers, carried, liveLists, evicted, lies, ...faults } = await runSchedules(1, 81, 1000);
  t.match(faults, { falseAnswers: 0, regressions: 0, alarms: 0, believed: 0 });
  t.ok(carried > 100 && liveLists > 100, `${carried} balances and ${liveLists} lists of ${answers} were kept live`);
  t.ok(evicted > 100, `${evicted} had been forgotten`);
  t.ok(lies > 100, `${lies} lies were told`);
});

t.test('the same schedules find the fault of arming with one read', async (t) => {
  const { falseAnswers, alarms } = await runSchedules(1, 41, 1000, { rule: oneRead });
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
  t.ok(alarms > 0, `the gateway itself found out ${alarms}`);
});

t.test('and that of a pool of nodes that is taken for one', async (t) => {
  const { falseAnswers } = await runSchedules(1, 41, 1000, { pooled: true, rule: withoutMargin });
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
});

t.test('and that of lists whose accounts are not listened to', async (t) => {
  const { falseLists, liveLists } = await runSchedules(1, 61, 1000, { listLine: deafToAccounts });
  t.ok(falseLists > 0, `${falseLists} of ${liveLists} lists were false`);
});
