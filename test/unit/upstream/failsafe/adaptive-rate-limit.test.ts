import fc from 'fast-check';
import t from 'tap';
import { AdaptiveRateLimit } from '../../../../src/upstream/failsafe/adaptive-rate-limit.ts';
import { MethodRateLimits } from '../../../../src/upstream/failsafe/method-rate-limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const send = (pace: AdaptiveRateLimit, times: number): void => {
  for (let n = 0; n < times; n++) pace.sent();
};

t.test(
  'there is no limit until the first refusal, and then one a little below the count that was refused',
  async (t) => {
    const clock = new ManualClock();
    const pace = new AdaptiveRateLimit(clock);
    send(pace, 100);
    t.equal(pace.waitMs, 0);
    pace.refused(3000);
    t.equal(pace.waitMs >= 3000, true);
    t.equal(pace.limit, 90);
  },
);

t.test('a pause that the node names is obeyed', async (t) => {
  const clock = new ManualClock();
  const pace = new AdaptiveRateLimit(clock);
  send(pace, 2);
  pace.refused(7000);
  clock.advance(6999);
  t.equal(pace.waitMs, 1);
  clock.advance(1);
  t.equal(pace.waitMs, 0);
  t.equal(pace.limit, Number.POSITIVE_INFINITY, 'so few are no measure');
});

t.test('a second refusal at once teaches nothing new', async (t) => {
  const clock = new ManualClock();
  const pace = new AdaptiveRateLimit(clock);
  send(pace, 40);
  pace.refused(1000);
  t.equal(pace.limit, 36);
  for (let n = 0; n < 5; n++) {
    clock.advance(1000);
    pace.sent();
    pace.refused(1000);
  }
  t.equal(pace.limit, 36);
});

t.test('no 10 s have more requests than the limit', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: 60 }),
      fc.array(fc.nat({ max: 400 }), { maxLength: 400 }),
      (first, waits) => {
        const clock = new ManualClock(0);
        const pace = new AdaptiveRateLimit(clock);
        send(pace, first);
        pace.refused(1);
        const sent: number[] = [];
        const { limit } = pace;
        for (const wait of waits) {
          clock.advance(wait);
          if (clock.monotonic() >= 10_000 || pace.waitMs > 0) continue; // from then on the limit may grow
          pace.sent();
          sent.push(clock.monotonic());
        }
        return sent.every((from, index) => {
          const window = sent.slice(index).filter((at) => at < from + 10_000).length;
          return window <= limit;
        });
      },
    ),
    { numRuns: 200 },
  );
});

t.test('a node with a limit per 10 s is used to nearly that, and seldom refuses', async (t) => {
  for (const allowed of [40, 100, 400]) {
    const clock = new ManualClock(0);
    const pace = new AdaptiveRateLimit(clock);
    const taken: number[] = [];
    let refused = 0;
    let total = 0;
    for (let n = 0; n < 6000; n++) {
      clock.advance(20); // 500 wanted in 10 s, for two minutes
      if (pace.waitMs > 0) continue;
      pace.sent();
      while ((taken[0] ?? Number.POSITIVE_INFINITY) <= clock.monotonic() - 10_000) taken.shift();
      if (taken.length < allowed) {
        taken.push(clock.monotonic());
        total++;
      } else {
        refused++;
        pace.refused(1000);
      }
    }
    t.ok(refused <= 40, `${allowed}: ${refused} refused in two minutes`);
    t.ok(total >= allowed * 12 * 0.6, `${allowed}: ${total} taken`);
  }
});

t.test('one refused method limits the method, a second one the node', async (t) => {
  const clock = new ManualClock();
  const paces = new MethodRateLimits(clock);
  paces.sent('getBlock');
  paces.refused('getBlock', 2000);
  t.equal(paces.waitMs('getBlock'), 2000);
  t.equal(paces.waitMs('getSlot'), 0);
  paces.sent('getBalance');
  paces.refused('getBalance', 5000);
  t.equal(paces.waitMs('getSlot'), 5000);
});
