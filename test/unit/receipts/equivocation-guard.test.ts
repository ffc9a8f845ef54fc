import fc from 'fast-check';
import t from 'tap';
import { type Conflict, EquivocationGuard } from '../../../src/receipts/equivocation-guard.ts';

const asked = {
  request: 'GET /api/v1/balance/x?commitment=finalized',
  slot: 1001,
  commitment: 'finalized',
  claim: 'exact',
  digest: 'one',
} as const;

function guardAt(tip: number) {
  const conflicts: Conflict[] = [];
  const guard = new EquivocationGuard((conflict) => conflicts.push(conflict));
  guard.becomeSoleSigner();
  guard.advance(tip);
  return { guard, conflicts };
}

t.test('the same result may be claimed exact any number of times', async (t) => {
  const { guard } = guardAt(1000);
  t.equal(guard.grantClaim(asked), 'exact');
  t.equal(guard.grantClaim(asked), 'exact');
  t.equal(guard.conflicts, 0);
});

t.test('a second result for the same request and slot is only observed, counted and reported', async (t) => {
  const { guard, conflicts } = guardAt(1000);
  guard.grantClaim(asked);
  t.equal(guard.grantClaim({ ...asked, digest: 'two' }), 'observed');
  t.equal(guard.grantClaim(asked), 'exact', 'the first stays exact');
  t.equal(guard.conflicts, 1);
  t.same(conflicts, [{ request: asked.request, slot: 1001, signed: 'one', refused: 'two' }]);
});

t.test('another request or another slot is no conflict', async (t) => {
  const { guard } = guardAt(1000);
  guard.grantClaim(asked);
  t.equal(guard.grantClaim({ ...asked, digest: 'two', slot: 1002 }), 'exact');
  t.equal(guard.grantClaim({ ...asked, digest: 'two', request: 'GET /api/v1/block/1' }), 'exact');
  t.equal(guard.conflicts, 0);
});

t.test('nothing below finalized is exact, and a request for observed gets observed', async (t) => {
  const { guard } = guardAt(1000);
  t.equal(guard.grantClaim({ ...asked, commitment: 'confirmed' }), 'observed');
  t.equal(guard.grantClaim({ ...asked, commitment: 'processed' }), 'observed');
  t.equal(guard.grantClaim({ ...asked, claim: 'observed' }), 'observed');
  t.equal(guard.entries, 0);
});

t.test('before the first finalized slot nothing is exact', async (t) => {
  const guard = new EquivocationGuard(() => {});
  guard.becomeSoleSigner();
  t.equal(guard.grantClaim(asked), 'observed');
  guard.advance(1000);
  t.equal(guard.grantClaim(asked), 'exact');
});

t.test('nothing is exact while another process may sign, nor what was finalized by then', async (t) => {
  const guard = new EquivocationGuard(() => {});
  guard.advance(999);
  guard.advance(1000);
  t.equal(guard.grantClaim(asked), 'observed');
  t.equal(guard.entries, 0);
  guard.becomeSoleSigner();
  t.equal(guard.grantClaim(asked), 'observed', 'the other process may have seen a newer slot');
  guard.advance(1001);
  t.equal(guard.grantClaim(asked), 'observed');
  t.equal(guard.grantClaim({ ...asked, slot: 1002 }), 'exact');
});

t.test('an earlier process may have signed for the first tip and all below it', async (t) => {
  const { guard } = guardAt(1000);
  t.equal(guard.grantClaim({ ...asked, slot: 1000 }), 'observed');
  t.equal(guard.grantClaim({ ...asked, slot: 999 }), 'observed');
  guard.advance(1100);
  t.equal(guard.grantClaim({ ...asked, slot: 1001 + 64 }), 'exact', 'a later tip does not raise the floor');
});

t.test('a forgotten slot is never exact again', async (t) => {
  const { guard, conflicts } = guardAt(1000);
  guard.grantClaim(asked);
  guard.advance(asked.slot + 63);
  t.equal(guard.grantClaim({ ...asked, digest: 'two' }), 'observed', 'still known');
  t.equal(conflicts.length, 1);
  guard.advance(asked.slot + 64);
  t.equal(guard.entries, 0);
  t.equal(guard.grantClaim(asked), 'observed');
  t.equal(conflicts.length, 1);
});

t.test('a lower tip drops nothing, and a slot far ahead of the tip is not exact', async (t) => {
  const { guard } = guardAt(1000);
  guard.advance(1040);
  guard.grantClaim({ ...asked, slot: 1040 });
  guard.advance(900);
  t.equal(guard.entries, 1);
  t.equal(guard.grantClaim({ ...asked, slot: 1041 }), 'exact', 'an answer may be slightly ahead of the notification');
  t.equal(guard.grantClaim({ ...asked, slot: 11_040 }), 'observed');
});

t.test('its memory is bounded: when it is full new requests are observed, those that go on are exact', async (t) => {
  let times = 0;
  const guard = new EquivocationGuard(
    () => {},
    () => times++,
  );
  guard.becomeSoleSigner();
  guard.advance(1000);
  const claim = (n: number, slot = 1001) => guard.grantClaim({ ...asked, slot, request: `GET /api/v1/balance/${n}` });
  for (let n = 0; n < 75_001; n++) claim(n);
  t.equal(guard.entries, 75_000);
  t.same([claim(75_000), claim(75_001), times], ['observed', 'observed', 1], 'told once');
  for (let n = 0; n < 25_001; n++) claim(n, 1002);
  t.equal(guard.entries, 100_000);
  t.same([claim(24_999, 1002), claim(25_000, 1002), claim(0)], ['exact', 'observed', 'exact']);
  guard.advance(1065);
  guard.advance(1066);
  t.equal(guard.grantClaim({ ...asked, slot: 1066 }), 'exact');
  t.equal(guard.entries, 1);
});

t.test('a digest that is carried on is granted for all slots of its range, another one for none of them', async (t) => {
  const { guard, conflicts } = guardAt(1000);
  t.equal(guard.grantClaim({ ...asked, until: 1010 }), 'exact');
  t.equal(guard.grantClaim({ ...asked, slot: 1005, until: 1020 }), 'exact', 'the range grows');
  t.equal(guard.entries, 1);
  t.equal(guard.grantClaim({ ...asked, slot: 1015, digest: 'two' }), 'observed');
  t.equal(guard.grantClaim({ ...asked, slot: 1021, digest: 'two' }), 'exact', 'it begins where the other ends');
  t.equal(guard.grantClaim({ ...asked, until: 1021 }), 'observed', 'the first goes on no more');
  t.equal(guard.grantClaim({ ...asked, slot: 1020 }), 'exact');
  t.same(conflicts, [
    { request: asked.request, slot: 1015, signed: 'one', refused: 'two' },
    { request: asked.request, slot: 1021, signed: 'two', refused: 'one' },
  ]);
});

t.test('a range goes on for longer than the guard remembers a slot', async (t) => {
  const { guard } = guardAt(1000);
  const claims = Array.from({ length: 300 }, (_, i) => {
    guard.advance(1000 + i);
    return guard.grantClaim({ ...asked, until: 1001 + i });
  });
  t.same([...new Set(claims)], ['exact']);
  t.equal(guard.entries, 1);
  t.equal(guard.grantClaim({ ...asked, slot: 1270, digest: 'two' }), 'observed');
  guard.advance(1400);
  t.equal(guard.entries, 0);
  t.equal(guard.grantClaim({ ...asked, until: 1401 }), 'observed', 'what is forgotten does not go on');
});

const steps = fc.array(
  fc.record({
    tip: fc.integer({ min: 0, max: 12 }),
    request: fc.constantFrom('a', 'b'),
    digest: fc.constantFrom('one', 'two', 'three'),
    slot: fc.integer({ min: -70, max: 70 }),
    length: fc.integer({ min: 0, max: 40 }),
  }),
  { maxLength: 80 },
);

t.test('F3: one request and slot is granted for one digest only, whatever the order of grants and marks', async (t) => {
  let granted = 0;
  const property = fc.property(steps, (sequence) => {
    const { guard } = guardAt(1000);
    const signed = new Map<string, string>();
    let tip = 1000;
    for (const { tip: advanced, request, digest, slot, length } of sequence) {
      tip += advanced;
      guard.advance(tip);
      const range = { slot: tip + slot, until: tip + slot + length };
      if (guard.grantClaim({ ...asked, ...range, request, digest }) !== 'exact') continue;
      granted++;
      for (let each = range.slot; each <= range.until; each++) {
        const place = `${request} ${each}`;
        if ((signed.get(place) ?? digest) !== digest) return false;
        signed.set(place, digest);
      }
    }
    return true;
  });
  fc.assert(property, { numRuns: 1500, seed: 19 });
  t.ok(granted > 1000, `${granted} were granted`);
});

t.test('with ranges of one slot it grants what one process alone may sign', async (t) => {
  let granted = 0;
  const property = fc.property(steps, (sequence) => {
    const { guard } = guardAt(1000);
    const signed = new Map<string, string>();
    let tip = 1000;
    for (const { tip: advanced, request, digest, slot: distance } of sequence) {
      tip += advanced;
      guard.advance(tip);
      const slot = tip + distance;
      const first = signed.get(`${request} ${slot}`) ?? digest;
      const mayBe = slot > 1000 && Math.abs(distance) < 64 && first === digest;
      if (mayBe) signed.set(`${request} ${slot}`, digest);
      if (mayBe) granted++;
      if ((guard.grantClaim({ ...asked, slot, request, digest }) === 'exact') !== mayBe) return false;
    }
    return true;
  });
  fc.assert(property, { numRuns: 1500, seed: 19 });
  t.ok(granted > 1000, `${granted} were granted`);
});

t.test('where other gateways sign too, only slots of its own range are exact', async (t) => {
  const { guard } = guardAt(1000);
  guard.confineTo(1001, 1003);
  const claimAt = (slot: number) => guard.grantClaim({ ...asked, slot });
  t.same([1001, 1002, 1003, 1004].map(claimAt), ['observed', 'exact', 'exact', 'observed']);
  guard.confineTo(0, 0);
  t.equal(claimAt(1002), 'observed', 'a range that was lost');
  guard.confineTo(1001, 1010);
  t.equal(guard.grantClaim({ ...asked, slot: 1002, digest: 'two' }), 'observed', 'what was signed is still known');
});

t.test('a range that goes on claims no slot that another gateway may have signed for', async (t) => {
  const { guard } = guardAt(1000);
  guard.confineTo(1000, 1010);
  t.equal(guard.grantClaim({ ...asked, slot: 1001, until: 1011 }), 'observed', 'beyond its own');
  t.equal(guard.grantClaim({ ...asked, slot: 1001, until: 1005 }), 'exact');
  guard.confineTo(1010, 1020);
  t.equal(guard.grantClaim({ ...asked, slot: 1001, until: 1015 }), 'observed', 'it leads again, after another');
  t.equal(guard.grantClaim({ ...asked, slot: 1011, until: 1015 }), 'exact');
  t.equal(guard.grantClaim({ ...asked, slot: 1011, until: 1020 }), 'exact', 'the range goes on');
});
