import t from 'tap';
import { commitmentOf, minContextSlotOf } from '../../../../src/upstream/rpc/response-slot.ts';

t.test('a call without a commitment is at finalized, as for a node', async (t) => {
  t.equal(commitmentOf([]), 'finalized');
  t.equal(commitmentOf(['x', { commitment: 'processed' }]), 'processed');
  t.equal(commitmentOf(['x', { commitment: 'root' }]), undefined);
});

t.test('a call without minContextSlot has no minimum', async (t) => {
  t.equal(minContextSlotOf(['x', { minContextSlot: 7 }]), 7);
  t.equal(minContextSlotOf(['x', { minContextSlot: 1.5 }]), undefined);
  t.equal(minContextSlotOf([7]), undefined);
});
