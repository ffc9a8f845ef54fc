import t from 'tap';
import { CONTROLS, ROOMY } from './simulator/controls.ts';
import { runSchedules } from './simulator/random-schedule.ts';

const NO_FAULT = { falseAnswers: 0, regressions: 0, detectedErrors: 0, believed: 0 };

t.test('no answer is false or goes back, whatever is late, lost, evicted or out of order', async (t) => {
  const { answers, advanced, evicted, lies, ...faults } = await runSchedules(1, 51, 1000);
  t.match(faults, NO_FAULT);
  t.ok(advanced > 100, `${advanced} balances of ${answers} answers were live`);
  t.ok(evicted > 100, `${evicted} had been evicted`);
  t.ok(lies > 100, `${lies} false slots were reported`);
});

t.test('nor where most lists are live and nodes leave out banks', async (t) => {
  const conditions = { ...ROOMY, listShare: 0.8, changeProbability: 0.03, notificationRate: 0.6, gapRate: 0.1 };
  const { answers, liveLists, livePortfolios, names, ...faults } = await runSchedules(1, 31, 1000, { conditions });
  t.match(faults, NO_FAULT);
  t.ok(liveLists > 100, `${liveLists} lists of ${answers} answers were live`);
  t.ok(livePortfolios > 100 && names > 2, `${livePortfolios} portfolios were, with ${names} names`);
});

t.test('nor does one with several balances', async (t) => {
  const options = { batches: true, conditions: { listShare: 0 } };
  const { advancedBatches, ...faults } = await runSchedules(1, 31, 1000, options);
  t.match(faults, NO_FAULT);
  t.ok(advancedBatches > 100, `${advancedBatches} were live`);
});

t.test('such schedules detect an initial sync with one read', async (t) => {
  const { falseAnswers, detectedErrors } = await runSchedules(1, 31, 1000, CONTROLS.singleRead);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
  t.ok(detectedErrors > 0, `the gateway detected ${detectedErrors}`);
});

t.test('they detect a pool that is treated as one node', async (t) => {
  const { falseAnswers } = await runSchedules(1, 61, 1000, CONTROLS.poolAsOneNode);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
});

t.test('they detect token lists without account notifications', async (t) => {
  const { falseAnswers } = await runSchedules(1, 41, 1000, CONTROLS.withoutAccountNotifications);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
});

t.test('they detect token lists that are not read again after a gap', async (t) => {
  const { falseAnswers } = await runSchedules(1, 41, 1000, CONTROLS.withoutGaps);
  t.ok(falseAnswers > 0, `${falseAnswers} false answers`);
});

t.test('they detect balances of different slots in one answer', async (t) => {
  const { falseBatches } = await runSchedules(1, 21, 1000, CONTROLS.withoutCommonSlot);
  t.ok(falseBatches > 0, `${falseBatches} false answers`);
});
