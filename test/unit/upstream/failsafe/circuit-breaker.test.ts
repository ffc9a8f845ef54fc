import fc from 'fast-check';
import t from 'tap';
import { type AttemptOutcome, CircuitBreaker } from '../../../../src/upstream/failsafe/circuit-breaker.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const outcomes = (breaker: CircuitBreaker, outcome: AttemptOutcome, times: number): void => {
  for (let n = 0; n < times; n++) breaker.startAttempt()(outcome);
};

t.test('the breaker opens when half of at least 20 attempts within 10 s have failed', async (t) => {
  const few = new CircuitBreaker(new ManualClock());
  outcomes(few, 'failed', 19);
  t.notOk(few.isOpen);
  outcomes(few, 'failed', 1);
  t.ok(few.isOpen);

  const mixed = new CircuitBreaker(new ManualClock());
  outcomes(mixed, 'succeeded', 30);
  outcomes(mixed, 'failed', 29);
  t.notOk(mixed.isOpen);
  outcomes(mixed, 'failed', 1);
  t.ok(mixed.isOpen);
});

t.test('outcomes that say nothing about the node are not counted', async (t) => {
  const breaker = new CircuitBreaker(new ManualClock());
  outcomes(breaker, 'failed', 19);
  outcomes(breaker, 'ignored', 100);
  t.notOk(breaker.isOpen);
});

t.test('failures stop counting after 10 s', async (t) => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker(clock);
  outcomes(breaker, 'failed', 19);
  clock.advance(10_000);
  outcomes(breaker, 'failed', 1);
  t.notOk(breaker.isOpen);
});

t.test('after a second one attempt is allowed, and decides', async (t) => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker(clock);
  outcomes(breaker, 'failed', 20);
  t.notOk(breaker.allowsAttempt);
  clock.advance(1000);
  t.ok(breaker.allowsAttempt);
  const settle = breaker.startAttempt();
  t.notOk(breaker.allowsAttempt, 'one at a time');
  settle('failed');
  t.notOk(breaker.allowsAttempt);
  clock.advance(1000);
  breaker.startAttempt()('ignored');
  t.ok(breaker.allowsAttempt, 'it decided nothing: the next may try');
  breaker.startAttempt()('succeeded');
  t.ok(breaker.allowsAttempt);
  t.notOk(breaker.isOpen);
  outcomes(breaker, 'failed', 19);
  t.notOk(breaker.isOpen, 'earlier attempts no longer count');
});

t.test('the breaker agrees with a model that records all attempts', async () => {
  const step = fc.record({
    waitMs: fc.nat({ max: 1500 }),
    outcome: fc.constantFrom<AttemptOutcome>('succeeded', 'failed', 'failed', 'ignored'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const clock = new ManualClock(0);
      const breaker = new CircuitBreaker(clock);
      let record: { second: number; failed: boolean }[] = [];
      let openedMs: number | undefined;
      for (const { waitMs, outcome } of steps) {
        clock.advance(waitMs);
        const now = clock.monotonic();
        const probe = openedMs !== undefined && now - openedMs >= 1000;
        if (breaker.isOpen !== (openedMs !== undefined) || breaker.allowsAttempt !== (openedMs === undefined || probe))
          return false;
        breaker.startAttempt()(outcome);
        if (probe && outcome === 'succeeded') openedMs = undefined;
        else if (probe && outcome === 'failed') openedMs = now;
        if (probe || outcome === 'ignored' || openedMs !== undefined) continue;
        const second = Math.floor(now / 1000);
        record = [...record, { second, failed: outcome === 'failed' }].filter((entry) => entry.second > second - 10);
        const failed = record.filter((entry) => entry.failed).length;
        if (outcome === 'failed' && record.length >= 20 && failed * 2 >= record.length) {
          openedMs = now;
          record = [];
        }
      }
      return true;
    }),
    { numRuns: 300 },
  );
});
