import fc from 'fast-check';
import t from 'tap';
import { commonSlot } from '../../../src/domain/common-slot.ts';

const span = fc.tuple(fc.nat(30), fc.nat(10)).map(([sinceSlot, more]) => ({ sinceSlot, slot: sinceSlot + more }));

t.test('it is the newest slot that lies in all spans, and there is none if they have no slot in common', async () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), (spans) => {
      const shared = Array.from({ length: 41 }, (_, slot) => slot).filter((slot) =>
        spans.every((each) => each.sinceSlot <= slot && slot <= each.slot),
      );
      return commonSlot(spans) === shared.at(-1);
    }),
  );
});

t.test('a state that changed after the last slot known of another has no slot in common with it', async (t) => {
  const unchanged = { sinceSlot: 100, slot: 104 };
  t.equal(commonSlot([unchanged, { sinceSlot: 104, slot: 104 }]), 104);
  t.equal(commonSlot([unchanged, { sinceSlot: 105, slot: 105 }]), undefined);
  t.equal(commonSlot([]), undefined, 'nothing has no slot');
});
