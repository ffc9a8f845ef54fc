import t from 'tap';
import { noMarginRule } from './simulator/no-margin-rule.ts';
import { runSchedules } from './simulator/random-schedule.ts';
import { singleReadRule } from './simulator/single-read-rule.ts';
import { withoutAccountNotifications } from './simulator/without-account-notifications.ts';
import { withoutCommonSlot } from './simulator/without-common-slot.ts';

t.test('no answer is false or goes back, whatever is late, lost, evicted or out of order', async (t) => {
  const { answers, advanced, liveLists, livePortfolios, names, evicted, lies, ...faults } = await runSchedules(
    1,
    81,
    1000,
  );
  t.match(faults, { falseAnswers: 0, regressions: 0, detectedErrors: 0, believed: 0 });
  t.ok(advanced > 100 && liveLists > 100, `${advanced} balances and ${liveLists} lists of ${answers} were live`);
  t.ok(livePortfolios > 100 && names > 4, `${livePortfolios} portfolios were, with ${names} names`);
  t.ok(evicted > 100, `${evicted} had been evicted`);
  t.ok(lies > 100, `${lies} false slots were reported`);
});

t.test('the same schedules detect an initial sync with one read', async (t) => {
  const { falseAnswers, detectedErrors } = await runSchedules(81, 127, 1000, { rule: singleReadRule });
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
  t.ok(detectedErrors > 0, `the gateway detected ${detectedErrors}`);
});

t.test('they detect a pool that is treated as one node', async (t) => {
  const { falseAnswers } = await runSchedules(61, 101, 1000, { pooled: true, rule: noMarginRule });
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
});

t.test('they detect token lists without account notifications', async (t) => {
  const { falseLists, liveLists } = await runSchedules(1, 61, 1000, { listSession: withoutAccountNotifications });
  t.ok(falseLists > 0, `${falseLists} of ${liveLists} lists were false`);
});

t.test('no answer with several balances is false or goes back', async (t) => {
  const { advancedBatches, falseAnswers, regressions, detectedErrors } = await runSchedules(1, 41, 1000, {
    batches: true,
  });
  t.match({ falseAnswers, regressions, detectedErrors }, { falseAnswers: 0, regressions: 0, detectedErrors: 0 });
  t.ok(advancedBatches > 50, `${advancedBatches} were live`);
});

t.test('the same schedules detect balances of different slots in one answer', async (t) => {
  const { falseBatches } = await runSchedules(1, 41, 1000, { batches: true, liveAccounts: withoutCommonSlot });
  t.ok(falseBatches > 0, `${falseBatches} false answers`);
});
