import t from 'tap';
import { CONTROLS, ROOMY } from './simulator/controls.ts';
import { FEED_CONTROLS, runFeedSchedules } from './simulator/feed-schedule.ts';
import { runSchedules, type ScheduleOutcome } from './simulator/random-schedule.ts';

/** `SCHEDULES=10` runs ten times as many; the row random-schedules of the faults runs 10,000. */
const FACTOR = Number(process.env['SCHEDULES'] ?? 1);
const NO_FAULT = { falseAnswers: 0, regressions: 0, detectedErrors: 0, acceptedFalseSlots: 0 };

t.test('no answer is false or goes back, whatever is late, lost, evicted or out of order', async (t) => {
  const { answers, advanced, evicted, falseSlots, ...faults } = await runSchedules(1, 1 + 15 * FACTOR, 1000);
  t.match(faults, NO_FAULT);
  t.ok(advanced > 50, `${advanced} balances of ${answers} answers were live`);
  t.ok(evicted > 50, `${evicted} had been evicted`);
  t.ok(falseSlots > 50, `${falseSlots} false slots were reported`);
});

t.test('nor where most lists are live and nodes leave out banks', async (t) => {
  const conditions = { ...ROOMY, listShare: 0.8, changeProbability: 0.03, notificationRate: 0.6, gapRate: 0.1 };
  const { answers, liveLists, livePortfolios, names, ...faults } = await runSchedules(1, 1 + 12 * FACTOR, 1000, {
    conditions,
  });
  t.match(faults, NO_FAULT);
  t.ok(liveLists > 50, `${liveLists} lists of ${answers} answers were live`);
  t.ok(livePortfolios > 50 && names > 2, `${livePortfolios} portfolios were, with ${names} names`);
});

t.test('nor does one with several balances', async (t) => {
  const options = { batches: true, conditions: { listShare: 0 } };
  const { advancedBatches, ...faults } = await runSchedules(1, 1 + 12 * FACTOR, 1000, options);
  t.match(faults, NO_FAULT);
  t.ok(advancedBatches > 50, `${advancedBatches} were live`);
});

for (const [what, options, names] of [
  ['an initial sync with one read', CONTROLS.singleRead, ['falseAnswers', 'detectedErrors']],
  ['a pool that is treated as one node', CONTROLS.poolAsOneNode, ['falseAnswers']],
  ['token lists without account notifications', CONTROLS.withoutAccountNotifications, ['falseAnswers']],
  ['token lists that are not read again after a gap', CONTROLS.withoutGaps, ['falseAnswers']],
  ['balances of different slots in one answer', CONTROLS.withoutCommonSlot, ['falseBatches']],
] as const) {
  t.test(`such schedules detect ${what}`, async (t) => {
    const unseen = new Set<keyof ScheduleOutcome>(names);
    for (let seed = 1; unseen.size > 0 && seed <= 60; seed++) {
      const outcome = await runSchedules(seed, seed + 1, 1000, options);
      for (const name of names) if (outcome[name] > 0) unseen.delete(name);
    }
    t.same([...unseen], []);
  });
}

t.test('no account of a Geyser feed is claimed falsely, whatever is late, lost, doubled or forged', async (t) => {
  const { claims, gaps, refused, dropped, ...faults } = runFeedSchedules(1, 30 * FACTOR);
  t.match(faults, { falseClaims: 0, regressions: 0, stale: 0 });
  t.ok(claims > 1000 && gaps > 10 && refused > 0 && dropped > 0, `${claims} claims, ${gaps} gaps`);
});

for (const { rule, shows } of FEED_CONTROLS)
  t.test(`such schedules detect a feed without rule ${rule}`, async (t) => {
    let found = 0;
    for (let seed = 1; found === 0 && seed <= 300; seed++) found = runFeedSchedules(seed, 1, rule)[shows];
    t.ok(found > 0, shows);
  });
