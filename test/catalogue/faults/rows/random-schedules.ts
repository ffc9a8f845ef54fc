import { expectNone, expectSome, info, type Row } from '../../findings.ts';
import { CONTROLS } from '../simulator/controls.ts';
import { runSchedules } from '../simulator/random-schedule.ts';

const STEPS = 600;

export const randomSchedules: Row = {
  id: 'random-schedules',
  title: 'random schedules',
  async run(runLength) {
    const count = runLength.isFull ? 10_000 : 2000;
    const sum = await runSchedules(1, 1 + count, STEPS);
    const batched = await runSchedules(1, 1 + count / 2, STEPS, { batches: true });
    const weak = await runSchedules(1, 101, 1000, CONTROLS.singleRead);
    const apart = await runSchedules(1, 101, 1000, CONTROLS.poolAsOneNode);
    const deaf = await runSchedules(1, 101, 1000, CONTROLS.withoutAccountNotifications);
    const unaware = await runSchedules(1, 101, 1000, CONTROLS.withoutGaps);
    const mixed = await runSchedules(1, 101, 1000, CONTROLS.withoutCommonSlot);
    return [
      info('schedules', count),
      info('answers', sum.answers),
      expectSome('advanced by a lease', sum.advanced),
      expectSome('live lists', sum.liveLists),
      expectSome('requests for evicted keys', sum.evicted),
      expectNone('false', sum.falseAnswers),
      expectNone('regressed', sum.regressions),
      expectNone('violated leases detected', sum.detectedErrors),
      expectSome('false slots', sum.falseSlots),
      expectNone('accepted', sum.acceptedFalseSlots),
      info('answers with requests for several balances', batched.answers),
      expectSome('several balances advanced by their leases', batched.advancedBatches),
      expectNone('false', batched.falseAnswers),
      expectNone('regressed', batched.regressions),
      expectNone('violated leases detected', batched.detectedErrors),
      expectSome('false with one read in the initial sync', weak.falseAnswers),
      expectSome('false with a pool treated as one node', apart.falseAnswers),
      expectSome('false with balances of different slots in one answer', mixed.falseBatches),
      expectSome('false lists without account notifications', deaf.falseLists),
      expectSome('false lists without a read after a gap', unaware.falseLists),
    ];
  },
};
