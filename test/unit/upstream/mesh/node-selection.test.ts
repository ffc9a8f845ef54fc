import fc from 'fast-check';
import t from 'tap';
import { LatencyTracker } from '../../../../src/upstream/failsafe/latency-tracker.ts';
import { rendezvousOrder, weightedRandomOrder } from '../../../../src/upstream/mesh/node-selection.ts';

const candidate = (id: string, weight: number) => ({ id, rank: 0, currentWeight: weight, weight });

const weight = fc.double({ min: 0.01, max: 100, noNaN: true });
const candidates = fc.uniqueArray(
  fc.record({ id: fc.string(), rank: fc.nat({ max: 3 }), currentWeight: weight, weight }),
  {
    selector: ({ id }) => id,
    minLength: 1,
  },
);

t.test('a better rank always comes first, and no candidate is lost', async () => {
  const chance = fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }));
  fc.assert(
    fc.property(candidates, chance, fc.string(), (all, stream, name) =>
      [weightedRandomOrder(all, () => stream.next().value), rendezvousOrder(all, name)].every(
        (order) =>
          order.length === all.length &&
          new Set(order).size === all.length &&
          order.every(({ rank }, index) => rank >= (order[index - 1]?.rank ?? 0)),
      ),
    ),
  );
});

t.test('one key always has the same order, whatever the latencies, and whichever other node leaves', async () => {
  fc.assert(
    fc.property(candidates, fc.string(), fc.nat(), (all, name, place) => {
      const order = rendezvousOrder(all, name).map(({ id }) => id);
      const slower = all.map((candidate) => ({ ...candidate, currentWeight: candidate.currentWeight / 7 }));
      const gone = all[place % all.length]?.id;
      const rest = slower.filter(({ id }) => id !== gone);
      return rendezvousOrder(rest, name).every(({ id }, index) => id === order.filter((kept) => kept !== gone)[index]);
    }),
  );
});

t.test('keys are distributed in proportion to the weights', async (t) => {
  const [light, heavy] = [candidate('a', 1), candidate('b', 3)];
  let heavyFirst = 0;
  for (let n = 0; n < 10_000; n++) if (rendezvousOrder([light, heavy], `address ${n}`)[0] === heavy) heavyFirst++;
  t.ok(Math.abs(heavyFirst / 10_000 - 0.75) < 0.02, `${heavyFirst}`);
});

t.test('equals come first in proportion to their current weight', async (t) => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const [light, heavy] = [candidate('a', 1), candidate('b', 3)];
  let heavyFirst = 0;
  for (let n = 0; n < 10_000; n++) if (weightedRandomOrder([light, heavy], random)[0] === heavy) heavyFirst++;
  t.ok(Math.abs(heavyFirst / 10_000 - 0.75) < 0.02, `${heavyFirst}`);
});

t.test('the p95 is what 95 of the latest 100 response times do not exceed', async (t) => {
  const latency = new LatencyTracker();
  for (let ms = 1; ms <= 15; ms++) latency.record(ms);
  t.equal(latency.p95Ms, undefined);
  for (let n = 0; n < 1000; n++) latency.record(n % 100 < 90 ? 10 : 80);
  t.equal(latency.p95Ms, 80);
  for (let n = 0; n < 200; n++) latency.record(n % 100 < 97 ? 10 : 80);
  t.equal(latency.p95Ms, 10);
});
