import fc from 'fast-check';
import t from 'tap';
import { describeEpoch, epochAt } from '../../../src/domain/epoch-info.ts';
import { describeNetwork } from '../../../src/domain/network-snapshot.ts';
import { describePerformance } from '../../../src/domain/performance-sample.ts';

const epoch = {
  absoluteSlot: 1000,
  blockHeight: 900,
  epoch: 7,
  slotIndex: 430,
  slotsInEpoch: 432,
  transactionCount: null,
};
const frame = { seq: 3, stream: 'abc', updatedAt: 1 };

t.test('an unknown member is null, never 0', async (t) => {
  t.same(describeNetwork({ slot: 1000, epoch, performance: null, priorityFee: null, health: 'ok' }, frame), {
    slot: 1000,
    blockHeight: 900,
    epoch: 7,
    epochProgress: 0.99537,
    slotIndex: 430,
    slotsInEpoch: 432,
    tps: null,
    nonVoteTps: null,
    slotTimeMs: null,
    priorityFee: null,
    priorityFeeLevels: null,
    transactionCount: null,
    health: 'ok',
    seq: 3,
    stream: 'abc',
    updatedAt: 1,
  });
});

t.test('a slot ahead of the epoch answer may lie in the next epoch', async (t) => {
  const parts = { epoch, performance: null, priorityFee: null, health: 'ok' } as const;
  t.match(describeNetwork({ ...parts, slot: 1001 }, frame), { epoch: 7, slotIndex: 431 });
  t.match(describeNetwork({ ...parts, slot: 1002 }, frame), { epoch: 8, slotIndex: 0, epochProgress: 0 });
  t.match(describeNetwork({ ...parts, slot: 569 }, frame), { epoch: 6, slotIndex: 431 });
});

t.test('epoch and index identify the slot, however far it is', async () => {
  fc.assert(
    fc.property(fc.integer({ min: -5000, max: 5000 }), (distance) => {
      const { epoch: number, slotIndex } = epochAt(epoch, 1000 + distance);
      const inside = slotIndex >= 0 && slotIndex < 432;
      return inside && (number - 7) * 432 + slotIndex - 430 === distance;
    }),
  );
});

t.test('the end of an epoch is estimated from the recent slot time', async (t) => {
  const described = describeEpoch({ ...epoch, slotIndex: 232 }, 500, 1_000_000);
  t.match(described, { slotsRemaining: 200, estimatedEndTime: 1100, epochProgress: 0.537037 });
});

t.test('rates of a performance sample are rounded; those of an empty one are null', async (t) => {
  const sample = { slot: 9, numTransactions: 1234n, numNonVoteTransactions: 7n, numSlots: 151, samplePeriodSecs: 60 };
  t.match(describePerformance(sample), { tps: 20.6, nonVoteTps: 0.1, slotTimeMs: 397.4 });
  t.match(describePerformance({ ...sample, numSlots: 0, numNonVoteTransactions: null }), {
    slotTimeMs: null,
    nonVoteTps: null,
    numNonVoteTransactions: null,
  });
});
