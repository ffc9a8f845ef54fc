import fc from 'fast-check';
import t from 'tap';
import { JumpGuard } from '../../../../src/upstream/mesh/jump-guard.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SLOT_MS = 400;

function setUp(slot = 1000) {
  const clock = new ManualClock(0);
  const guard = new JumpGuard({ clock, maxJump: 64, steadySlots: 8, silenceMs: 2000 });
  guard.observe('a', slot);
  /** Lets slots pass. Each of these nodes reports them, off by its number. */
  const pass = (slots: number, nodes: Readonly<Record<string, number>>) => {
    for (let n = 0; n < slots; n++) {
      clock.advance(SLOT_MS);
      slot++;
      for (const [id, lie] of Object.entries(nodes)) guard.observe(id, slot + lie);
    }
    return slot;
  };
  return { clock, guard, pass, slot };
}

t.test('I16: a step that the elapsed time explains is accepted, and up to 64 slots more', async (t) => {
  const { clock, guard, pass } = setUp();
  const slot = pass(50, { a: 0 });
  t.ok(guard.isAccepted(slot));
  clock.advance(40 * SLOT_MS);
  guard.observe('a', slot + 40 + 60);
  t.ok(guard.isAccepted(slot + 100));
  guard.observe('a', slot + 300);
  t.notOk(guard.isAccepted(slot + 300));
  t.ok(guard.isSuspect('a'));
});

t.test('I16: many small steps advance the tip no further than one big one', async (t) => {
  const { guard, pass } = setUp();
  const slot = pass(50, { a: 0, b: 0 });
  for (let far = 10; far <= 10_000; far += 10) guard.observe('a', slot + far);
  t.ok(guard.isAccepted(slot + 60));
  t.notOk(guard.isAccepted(slot + 80));
});

t.test('I16: beside an honest node a lying one is never accepted, however steadily it advances', async (t) => {
  const { guard, pass } = setUp();
  const slot = pass(200, { a: 0, liar: 10_000 });
  t.ok(guard.isAccepted(slot));
  t.notOk(guard.isAccepted(slot + 65));
  t.ok(guard.isSuspect('liar'));
  t.notOk(guard.isSuspect('a'));
});

t.test('I16: where two agree a third far from them is not accepted, until it is near again', async (t) => {
  for (const lie of [21, 40, 64, 100]) {
    const { guard, pass } = setUp();
    pass(20, { a: 0, b: -3, liar: 0 });
    const slot = pass(100, { liar: lie, a: 0, b: -3 });
    t.ok(guard.isAccepted(slot));
    t.notOk(guard.isAccepted(slot + 21), `${lie}`);
    t.match([guard.isSuspect('liar'), guard.isSuspect('a'), guard.isSuspect('b')], [true, false, false]);
    const later = pass(2, { liar: 19, a: 0, b: -3 });
    t.notOk(guard.isSuspect('liar'));
    t.ok(guard.isAccepted(later + 19), 'a node may be a little ahead');
  }
});

t.test('I16: two nodes whose slots do not change are no witnesses against one that advances', async (t) => {
  const { clock, guard, pass } = setUp();
  let slot = pass(20, { a: 0, b: 0, c: 0 });
  for (const until = slot + 200; slot < until; slot++) {
    clock.advance(SLOT_MS);
    for (const [id, reported] of [
      ['a', slot + 1],
      ['b', until - 200],
      ['c', until - 200],
    ] as const)
      guard.observe(id, reported);
    t.ok(guard.isAccepted(slot + 1));
  }
});

t.test('I16: a second node nearby is enough of a witness', async (t) => {
  const { guard, pass } = setUp();
  const slot = pass(10, { a: 0, b: 0 });
  guard.observe('a', slot + 500);
  t.notOk(guard.isAccepted(slot + 500));
  guard.observe('b', slot + 490);
  t.ok(guard.isAccepted(slot + 490));
  guard.observe('a', slot + 501);
  t.ok(guard.isAccepted(slot + 501));
  t.notOk(guard.isSuspect('a'));
});

t.test('I16: the only node is accepted after 8 more slots at a steady pace, and not before', async (t) => {
  const { guard, pass } = setUp();
  const slot = pass(20, { a: 0 });
  const before = pass(8, { a: 5000 });
  t.notOk(guard.isAccepted(slot + 5000));
  t.ok(guard.isSuspect('a'));
  t.equal(before, slot + 8);
  pass(1, { a: 5000 });
  t.ok(guard.isAccepted(slot + 5009));
  t.notOk(guard.isSuspect('a'));
});

t.test('I16: the only node is not accepted while it jumps about', async (t) => {
  const { guard, pass } = setUp();
  const slot = pass(20, { a: 0 });
  for (let lie = 1000; lie < 20_000; lie += 1000) pass(4, { a: lie });
  t.notOk(guard.isAccepted(slot + 500));
  pass(1, { a: 0 });
  t.notOk(guard.isSuspect('a'), 'it has come back to where it was');
});

t.test('the slot time of a chain is learned, be it short or long', async (t) => {
  for (const slotMs of [50, 400, 1200]) {
    const clock = new ManualClock(0);
    const guard = new JumpGuard({ clock, maxJump: 64, steadySlots: 8, silenceMs: 2000 });
    for (let slot = 1; slot < 2000; slot++) {
      guard.observe('a', slot);
      if (!guard.isAccepted(slot)) t.fail(`slot ${slot} at ${slotMs} ms is not accepted`);
      clock.advance(slotMs);
    }
  }
});

t.test('I16: beside an honest node no lying one moves the accepted tip by more than 64 slots', async () => {
  const lie = fc.record({ far: fc.integer({ min: -5000, max: 50_000 }), times: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(fc.array(lie, { maxLength: 20 }), (lies) => {
      const { guard, pass } = setUp();
      let slot = pass(10, { a: 0, liar: 0 });
      for (const { far, times } of lies) {
        slot = pass(times, { liar: far, a: 0 });
        if (!guard.isAccepted(slot) || guard.isAccepted(slot + 66)) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
});
