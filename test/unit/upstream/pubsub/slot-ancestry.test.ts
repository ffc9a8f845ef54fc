import fc from 'fast-check';
import t from 'tap';
import { SlotAncestry } from '../../../../src/upstream/pubsub/slot-ancestry.ts';

t.test('a slot is on another fork than the chains that skip it, as far as the parents are known', async () => {
  // Each slot is built on one of those before it.
  const tree = fc.array(fc.nat(), { minLength: 2, maxLength: 200 });
  fc.assert(
    fc.property(tree, fc.nat(), fc.nat(), (seeds, one, two) => {
      const ancestry = new SlotAncestry();
      const parents = seeds.map((seed, slot) => (slot === 0 ? -1 : seed % slot));
      for (const [slot, parent] of parents.entries()) if (slot > 0) ancestry.record(slot, parent);
      const [slot, tip] = [one % seeds.length, two % seeds.length];
      const chain = new Set<number>();
      for (let at = tip; at >= 0; at = parents[at] ?? -1) chain.add(at);
      return ancestry.isOnAnotherFork(slot, tip) === (slot < tip && !chain.has(slot));
    }),
  );
});

t.test('unknown parents put no slot on another fork', async (t) => {
  const ancestry = new SlotAncestry();
  t.notOk(ancestry.isOnAnotherFork(9, 10));
  ancestry.record(12, 11);
  t.notOk(ancestry.isOnAnotherFork(10, 12), 'the parent of 11 is unknown');
  ancestry.record(11, 12);
  t.notOk(ancestry.isOnAnotherFork(10, 12), 'nor is a slot built on a later one');
  ancestry.record(11, 9);
  t.ok(ancestry.isOnAnotherFork(10, 12));
  for (let slot = 13; slot < 400; slot++) ancestry.record(slot, slot - 1);
  t.notOk(ancestry.isOnAnotherFork(10, 399), 'long ago is forgotten');
});
