import fc from 'fast-check';
import t from 'tap';
import { AdaptiveRateLimit } from '../../../../src/upstream/failsafe/adaptive-rate-limit.ts';
import { MethodRateLimits } from '../../../../src/upstream/failsafe/method-rate-limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const send = (rateLimit: AdaptiveRateLimit, times: number): void => {
  for (let n = 0; n < times; n++) rateLimit.recordRequest();
};

t.test(
  'there is no limit until the first refusal, and then one a little below the count that was refused',
  async (t) => {
    const clock = new ManualClock();
    const rateLimit = new AdaptiveRateLimit(clock);
    send(rateLimit, 100);
    t.equal(rateLimit.waitMs, 0);
    rateLimit.recordRejection(3000);
    t.equal(rateLimit.waitMs >= 3000, true);
    t.equal(rateLimit.limit, 90);
  },
);

t.test('a pause that the node names is obeyed', async (t) => {
  const clock = new ManualClock();
  const rateLimit = new AdaptiveRateLimit(clock);
  send(rateLimit, 2);
  rateLimit.recordRejection(7000);
  clock.advance(6999);
  t.equal(rateLimit.waitMs, 1);
  clock.advance(1);
  t.equal(rateLimit.waitMs, 0);
  t.equal(rateLimit.limit, Number.POSITIVE_INFINITY, 'so few requests teach nothing');
});

t.test('after the longest pause one request probes the node, and the others follow a second later', async (t) => {
  const clock = new ManualClock();
  const rateLimit = new AdaptiveRateLimit(clock);
  rateLimit.recordRequest();
  for (let refusals = 0; refusals < 3; refusals++) {
    rateLimit.recordRejection(30_000);
    clock.advance(30_000);
    t.equal(rateLimit.waitMs, 0);
    rateLimit.recordRequest();
    t.equal(rateLimit.waitMs, 1000, 'all others wait for the answer to the probe');
  }
  clock.advance(1000);
  send(rateLimit, 5);
  t.equal(rateLimit.waitMs, 0, 'it was not refused');
});

t.test('a second refusal at once teaches nothing new', async (t) => {
  const clock = new ManualClock();
  const rateLimit = new AdaptiveRateLimit(clock);
  send(rateLimit, 40);
  rateLimit.recordRejection(1000);
  t.equal(rateLimit.limit, 36);
  for (let n = 0; n < 5; n++) {
    clock.advance(1000);
    rateLimit.recordRequest();
    rateLimit.recordRejection(1000);
  }
  t.equal(rateLimit.limit, 36);
});

t.test('no 10 s have more requests than the limit', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: 60 }),
      fc.array(fc.nat({ max: 400 }), { maxLength: 400 }),
      (first, waits) => {
        const clock = new ManualClock(0);
        const rateLimit = new AdaptiveRateLimit(clock);
        send(rateLimit, first);
        rateLimit.recordRejection(1);
        const sent: number[] = [];
        const { limit } = rateLimit;
        for (const wait of waits) {
          clock.advance(wait);
          if (clock.monotonic() >= 10_000 || rateLimit.waitMs > 0) continue; // from then on the limit may grow
          rateLimit.recordRequest();
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
    const rateLimit = new AdaptiveRateLimit(clock);
    const accepted: number[] = [];
    let refused = 0;
    let total = 0;
    for (let n = 0; n < 6000; n++) {
      clock.advance(20); // 500 attempted in 10 s, for two minutes
      if (rateLimit.waitMs > 0) continue;
      rateLimit.recordRequest();
      while ((accepted[0] ?? Number.POSITIVE_INFINITY) <= clock.monotonic() - 10_000) accepted.shift();
      if (accepted.length < allowed) {
        accepted.push(clock.monotonic());
        total++;
      } else {
        refused++;
        rateLimit.recordRejection(1000);
      }
    }
    t.ok(refused <= 40, `${allowed}: ${refused} refused in two minutes`);
    t.ok(total >= allowed * 12 * 0.6, `${allowed}: ${total} accepted`);
  }
});

t.test('one refused method limits the method, a second one the node', async (t) => {
  const clock = new ManualClock();
  const rateLimits = new MethodRateLimits(clock);
  rateLimits.recordRequest('getBlock');
  rateLimits.recordRejection('getBlock', 2000);
  t.equal(rateLimits.waitMs('getBlock'), 2000);
  t.equal(rateLimits.waitMs('getSlot'), 0);
  rateLimits.recordRequest('getBalance');
  rateLimits.recordRejection('getBalance', 5000);
  t.equal(rateLimits.waitMs('getSlot'), 5000);
});
