import fc from 'fast-check';
import t from 'tap';
import { describePriorityFee } from '../../../src/domain/priority-fee-estimate.ts';

const samples = (fees: readonly bigint[]) => fees.map((prioritizationFee, i) => ({ slot: 100 + i, prioritizationFee }));
const describe = (fees: readonly bigint[]) => describePriorityFee(samples(fees), 500);

t.test('percentiles are samples, by nearest rank', async (t) => {
  const fee = describe([40n, 10n, 0n, 20n, 30n]);
  t.same(fee.priorityFeeLevels, { min: 0n, low: 10n, medium: 20n, high: 30n, veryHigh: 40n, unsafeMax: 40n });
  t.equal(fee.priorityFeeEstimate, 20n);
  t.match(fee, { slotsSampled: 5, fromSlot: 100, toSlot: 104, zeroShare: 0.2 });
});

t.test('a fee beyond 2^53 keeps every digit', async (t) => {
  t.equal(describe([18446744073709551615n]).priorityFeeEstimate, 18446744073709551615n);
});

t.test('without samples the count is 0, and both slots are that of the request', async (t) => {
  t.match(describe([]), { slotsSampled: 0, fromSlot: 500, toSlot: 500, zeroShare: 0, priorityFeeEstimate: 0n });
});

t.test('percentiles never fall, and at least p percent of the samples are at or below each', async () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 1000n), { minLength: 1, maxLength: 150 }), (fees) => {
      const { percentiles } = describe(fees);
      let before = -1n;
      return Object.entries(percentiles).every(([percent, fee]) => {
        const rises = fee >= before;
        before = fee;
        const share = fees.filter((other) => other <= fee).length / fees.length;
        return rises && fees.includes(fee) && share * 100 >= Number(percent);
      });
    }),
  );
});
