import fc from 'fast-check';
import t from 'tap';
import { AdaptiveRateLimit } from '../../../src/gateway/upstream/failsafe/adaptive-rate-limit.ts';
import { Bulkhead, type BulkheadCall } from '../../../src/gateway/upstream/failsafe/bulkhead.ts';
import { type AttemptOutcome, CircuitBreaker } from '../../../src/gateway/upstream/failsafe/circuit-breaker.ts';
import { hedgedFailover } from '../../../src/gateway/upstream/failsafe/hedge.ts';
import { MethodRateLimits } from '../../../src/gateway/upstream/failsafe/method-rate-limits.ts';
import { rateLimitPauseSeconds } from '../../../src/gateway/upstream/failsafe/rate-limit-pause.ts';
import { SlidingWindow } from '../../../src/gateway/upstream/failsafe/sliding-window.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('adaptive-rate-limit', async (t) => {
  const send = (rateLimit: AdaptiveRateLimit, times: number): void => {
    for (let n = 0; n < times; n++) rateLimit.recordRequest();
  };

  t.test('there is no limit until the first refusal, then one a little below the refused count', async (t) => {
    const clock = new ManualClock();
    const rateLimit = new AdaptiveRateLimit(clock);
    send(rateLimit, 100);
    t.equal(rateLimit.waitMs, 0);
    rateLimit.recordRejection(3000);
    t.equal(rateLimit.waitMs >= 3000, true);
    t.equal(rateLimit.limit, 90);
  });

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

  t.test('a second refusal at the same time teaches nothing new', async (t) => {
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
});

t.test('bulkhead', async (t) => {
  /** A call, and what became of it. */
  interface Outcome {
    readonly call: BulkheadCall;
    state: 'waiting' | 'running' | 'ended' | 'refused';
    finish(): void;
    abort(): void;
  }

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** A bulkhead whose calls run until the test ends them; `starts` has them in the order in which they started. */
  class Rig {
    readonly calls: Outcome[] = [];
    readonly starts: Outcome[] = [];
    readonly #bulkhead: Bulkhead;

    constructor(capacity: number, maxQueued = 1000) {
      this.#bulkhead = new Bulkhead(capacity, maxQueued);
    }

    async add(call: BulkheadCall): Promise<Outcome> {
      const aborting = new AbortController();
      const outcome: Outcome = {
        call,
        state: 'waiting',
        finish: () => {},
        abort: () => aborting.abort(new Error('late')),
      };
      this.calls.push(outcome);
      this.#bulkhead
        .run(call, aborting.signal, () => {
          outcome.state = 'running';
          this.starts.push(outcome);
          return new Promise<void>((resolve) => {
            outcome.finish = resolve;
          });
        })
        .then(
          () => {
            outcome.state = 'ended';
          },
          () => {
            outcome.state = 'refused';
          },
        );
      await turn();
      return outcome;
    }

    all(state: Outcome['state'], test: (call: BulkheadCall) => boolean = () => true): Outcome[] {
      return this.calls.filter((outcome) => outcome.state === state && test(outcome.call));
    }

    /** Finishes one call after another until none runs. */
    async drain(): Promise<void> {
      for (let [next] = this.all('running'); next !== undefined; [next] = this.all('running')) {
        next.finish();
        await turn();
      }
    }
  }

  const isOwn = ({ caller }: BulkheadCall): boolean => caller === undefined;
  const own = (isSlow = false): BulkheadCall => ({ caller: undefined, hasPriority: false, isSlow });
  const of = (caller: string, more: Partial<BulkheadCall> = {}): BulkheadCall => ({
    caller,
    hasPriority: false,
    isSlow: false,
    ...more,
  });

  const call = fc.record({
    caller: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', undefined),
    hasPriority: fc.boolean(),
    isSlow: fc.boolean(),
  });
  const step = fc.oneof(
    { weight: 4, arbitrary: call.map((added) => ({ added })) },
    fc.nat(1000).map((finished) => ({ finished })),
    fc.nat(1000).map((aborted) => ({ aborted })),
  );

  t.test('no kind of call and no caller ever has more than its part, and the room that is kept is free', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 120 }), async (capacity, steps) => {
        const rig = new Rig(capacity, 40);
        const atMost = (divisor: number): number => Math.max(1, Math.floor(capacity / divisor));
        const reservedForOwn = Math.min(capacity - 1, Math.ceil(capacity / 8));
        for (const { added, finished, aborted } of steps as {
          added?: BulkheadCall;
          finished?: number;
          aborted?: number;
        }[]) {
          const isReserved =
            added !== undefined &&
            isOwn(added) &&
            !added.isSlow &&
            rig.all('running', (other) => isOwn(other) && !other.isSlow).length < reservedForOwn;
          if (added !== undefined) {
            const outcome = await rig.add(added);
            if (isReserved && outcome.state !== 'running')
              throw new Error('no room for the work of the gateway itself');
          }
          const [running, waiting] = [rig.all('running'), rig.all('waiting')];
          if (finished !== undefined) running[finished % running.length]?.finish();
          if (aborted !== undefined) waiting[aborted % waiting.length]?.abort();
          await turn();
          const counts = {
            all: rig.all('running').length <= capacity,
            slow: rig.all('running', ({ isSlow, caller }) => isSlow && caller !== undefined).length <= atMost(4),
            ownSlow: rig.all('running', ({ isSlow, caller }) => isSlow && caller === undefined).length <= atMost(4),
            queue: rig.all('waiting').length <= 40,
            callers: [...'abcdefg'].every((name) => {
              const running = rig.all('running', ({ caller }) => caller === name);
              const waiting = rig.all('waiting', ({ caller }) => caller === name);
              const slow = running.filter(({ call }) => call.isSlow);
              return running.length <= atMost(4) && slow.length <= atMost(8) && waiting.length <= 10;
            }),
          };
          const broken = Object.entries(counts).find(([, holds]) => !holds);
          if (broken !== undefined) throw new Error(`too many: ${broken[0]}`);
        }
        await rig.drain();
        return rig.all('waiting').length === 0; // none is forgotten
      }),
      { numRuns: 60 },
    );
  });

  t.test('none waits for ever: each kind of call starts, however many others keep coming', async (t) => {
    const kinds = [own(), own(true), of('a', { hasPriority: true }), of('a', { hasPriority: true, isSlow: true })];
    for (const capacity of [1, 4, 32]) {
      for (const last of [own(), own(true), of('z'), of('z', { isSlow: true })]) {
        const rig = new Rig(capacity);
        for (let i = 0; i < 2 * capacity; i++) for (const kind of kinds) await rig.add(kind);
        const waiting = await rig.add(last);
        let finished = 0;
        while (waiting.state === 'waiting') {
          const oldest = rig.all('running')[0];
          if (oldest === undefined || finished++ > 1000) break;
          oldest.finish();
          await rig.add(oldest.call); // the others never end
        }
        t.equal(waiting.state, 'running', `${JSON.stringify(last)} of ${capacity}, after ${finished}`);
      }
    }
  });

  t.test('turns go round the callers: one call does not wait for the fifty of another', async (t) => {
    const rig = new Rig(32);
    for (const caller of ['a', 'b', 'c', 'd']) for (let i = 0; i < 50; i++) await rig.add(of(caller));
    const only = await rig.add(of('z'));
    const before = rig.starts.length;
    while (only.state === 'waiting') {
      rig.all('running')[0]?.finish();
      await turn();
    }
    t.ok(rig.starts.length - before <= 5, `${rig.starts.length - before - 1} before it`);
  });

  t.test('priority goes ahead; slow calls use no room of quick ones', async (t) => {
    const rig = new Rig(32);
    for (const caller of ['a', 'b', 'c', 'd', 'e'])
      for (let i = 0; i < 10; i++) await rig.add(of(caller, { isSlow: true }));
    t.equal(rig.all('running').length, 8);
    for (const caller of ['f', 'g', 'h', 'i']) for (let i = 0; i < 10; i++) await rig.add(of(caller));
    t.equal(rig.all('running', ({ isSlow }) => !isSlow).length, 18, 'all but what is reserved for the gateway itself');
    const behind = await rig.add(of('y'));
    const first = await rig.add(of('z', { hasPriority: true }));
    for (let i = 0; i < 2 && first.state === 'waiting'; i++) {
      rig.all('running', ({ isSlow }) => !isSlow)[0]?.finish();
      await turn();
    }
    t.match([first.state, behind.state], ['running', 'waiting']);
  });

  t.test('the queue keeps room for the gateway itself and for priority; one caller has a quarter', async (t) => {
    const rig = new Rig(1, 16);
    await rig.add(own());
    const refusedOf = async (calls: readonly BulkheadCall[]): Promise<number> => {
      const outcomes = [];
      for (const call of calls) outcomes.push(await rig.add(call));
      return outcomes.filter(({ state }) => state === 'refused').length;
    };
    const five = (caller: string, hasPriority = false) => Array.from({ length: 5 }, () => of(caller, { hasPriority }));
    t.equal(await refusedOf(five('a')), 1, 'a quarter for one caller');
    t.equal(await refusedOf([...five('b'), ...five('c')]), 6, 'half of it without priority');
    t.equal(await refusedOf([...five('d', true), ...five('e', true)]), 6, 'three quarters for callers');
    t.equal(await refusedOf(Array.from({ length: 5 }, () => own())), 1, 'the rest for the gateway itself');
  });
});

t.test('circuit-breaker', async (t) => {
  const outcomes = (breaker: CircuitBreaker, outcome: AttemptOutcome, times: number): void => {
    for (let n = 0; n < times; n++) breaker.startAttempt()(outcome);
  };

  t.test('a slow probe keeps no other from following a second later', async (t) => {
    const clock = new ManualClock();
    const breaker = new CircuitBreaker(clock);
    outcomes(breaker, 'failed', 20);
    clock.advance(1000);
    const endSlow = breaker.startAttempt();
    breaker.startAttempt()('succeeded');
    t.ok(breaker.isOpen, 'a poll that a node answers says nothing about a call on which it hangs');
    t.notOk(breaker.allowsAttempt, 'no caller needs to wait for it, too');
    clock.advance(1000);
    breaker.startAttempt()('succeeded');
    t.notOk(breaker.isOpen);
    endSlow('failed');
    t.notOk(breaker.isOpen, 'one late failure says no more');
  });

  t.test('a node that answers polls alone gets few calls of others', async (t) => {
    const clock = new ManualClock(0);
    const breaker = new CircuitBreaker(clock);
    let calls = 0;
    for (let ms = 20; ms <= 60_000; ms += 20) {
      clock.advance(20);
      if (ms % 1000 === 0) breaker.startAttempt()('succeeded');
      if (!breaker.allowsAttempt) continue;
      const endCall = breaker.startAttempt();
      calls++;
      clock.after(2000, () => endCall('failed'));
    }
    t.ok(calls < 300, `${calls} calls`);
  });

  t.test('the breaker agrees with a model that records all attempts', async () => {
    const step = fc.record({
      waitMs: fc.oneof(
        { weight: 12, arbitrary: fc.constant(0) },
        fc.nat({ max: 1500 }),
        fc.constantFrom(1000, 9000, 10_000),
      ),
      outcome: fc.constantFrom<AttemptOutcome>('succeeded', 'failed', 'failed', 'ignored'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const clock = new ManualClock(0);
        const breaker = new CircuitBreaker(clock);
        let record: { second: number; failed: boolean }[] = [];
        let openedMs: number | undefined;
        for (const { waitMs, outcome } of steps) {
          clock.advance(waitMs);
          const now = clock.monotonic();
          const probe = openedMs !== undefined && now - openedMs >= 1000;
          if (
            breaker.isOpen !== (openedMs !== undefined) ||
            breaker.allowsAttempt !== (openedMs === undefined || probe)
          )
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
});

t.test('hedge', async (t) => {
  /** Behavior of an attempt: its duration, and whether it gives a result, good or not, or fails, finally or not. */
  interface AttemptBehavior {
    readonly ms: number;
    readonly end: 'good' | 'poor' | 'failed' | 'final';
  }

  const HEDGE_MS = 50;

  async function run(behaviors: readonly AttemptBehavior[]) {
    const clock = new ManualClock(0);
    const started: number[] = [];
    let outcome: { readonly index: number; readonly failed: boolean; readonly atMs: number } | undefined;
    const attempts = behaviors.map(({ ms, end }, index) => () => {
      started.push(clock.monotonic());
      return new Promise<number>((resolve, reject) => {
        clock.after(ms, () => (end === 'good' || end === 'poor' ? resolve(index) : reject(index)));
      });
    });
    hedgedFailover({
      attempts,
      clock,
      hedgeAfterMs: HEDGE_MS,
      isAcceptable: (index) => behaviors[index]?.end === 'good',
      isFinal: (index) => behaviors[Number(index)]?.end === 'final',
      isLessInformative: () => false,
    }).then(
      (index) => {
        outcome = { index, failed: false, atMs: clock.monotonic() };
      },
      (thrown) => {
        outcome = { index: Number(thrown), failed: true, atMs: clock.monotonic() };
      },
    );
    for (let ms = 0; ms <= 1200 && outcome === undefined; ms++) {
      await new Promise(setImmediate);
      clock.advance(1);
    }
    return { outcome, started };
  }

  t.test('a quick answer is the only attempt', async (t) => {
    const { outcome, started } = await run([
      { ms: 49, end: 'good' },
      { ms: 1, end: 'good' },
    ]);
    t.match(outcome, { index: 0, failed: false });
    t.equal(started.length, 1);
  });

  t.test('a slow first attempt starts the second, but not the third', async (t) => {
    const { outcome, started } = await run([
      { ms: 200, end: 'good' },
      { ms: 100, end: 'good' },
      { ms: 1, end: 'good' },
    ]);
    t.match(outcome, { index: 1, failed: false });
    t.strictSame(started, [0, HEDGE_MS]);
  });

  t.test('a failure starts the next attempt immediately, a final one does not', async (t) => {
    const passed = await run([
      { ms: 5, end: 'failed' },
      { ms: 5, end: 'final' },
      { ms: 5, end: 'good' },
    ]);
    t.match(passed.outcome, { index: 1, failed: true });
    t.equal(passed.started.length, 2);
  });

  t.test('a poor result counts when no attempt gives a better one', async (t) => {
    const { outcome } = await run([
      { ms: 5, end: 'poor' },
      { ms: 5, end: 'failed' },
      { ms: 5, end: 'poor' },
    ]);
    t.match(outcome, { index: 0, failed: false });
  });

  t.test('a poor result does not win over a good one of the same turn', async (t) => {
    const { outcome } = await run([
      { ms: HEDGE_MS + 20, end: 'poor' },
      { ms: 20, end: 'good' },
    ]);
    t.match(outcome, { index: 1, failed: false });
  });

  t.test('whatever the attempts do, the best outcome counts, and each starts at most once', async () => {
    const behavior = fc.record({
      ms: fc.integer({ min: 1, max: 120 }),
      end: fc.constantFrom<AttemptBehavior['end']>('good', 'poor', 'failed', 'failed', 'final'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(behavior, { minLength: 1, maxLength: 4 }), async (behaviors) => {
        const { outcome, started } = await run(behaviors);
        if (outcome === undefined || started.length > behaviors.length) return false;
        const { end } = behaviors[outcome.index] ?? {};
        const tried = behaviors.slice(0, started.length);
        if (end === 'good' || end === 'final') return outcome.failed === (end === 'final');
        if (started.length < behaviors.length) return false; // it gave up too early
        if (end === 'poor') return !tried.some((other) => other.end === 'good' || other.end === 'final');
        return tried.every((other) => other.end === 'failed');
      }),
      { numRuns: 60 },
    );
  });
});

t.test('rate-limit-pause', async (t) => {
  const NOW_MS = Date.UTC(2026, 10, 24);

  t.test('a pause is that of Retry-After, one second without it, and thirty at most', async (t) => {
    const pauses: readonly (readonly [retryAfter: string | undefined, seconds: number])[] = [
      [undefined, 1],
      ['0', 1],
      ['7', 7],
      [new Date(NOW_MS + 7000).toUTCString(), 7],
      ['60', 30],
      ['86400', 30],
      ['Thu, 01 Jan 2099 00:00:00 GMT', 30],
      ['99999999999999999999999', 30],
      ['garbage', 1],
      ['-5', 1],
      ['1e9', 1],
    ];
    for (const [retryAfter, seconds] of pauses)
      t.equal(rateLimitPauseSeconds(retryAfter, NOW_MS), seconds, String(retryAfter));
  });
});

t.test('sliding-window', async (t) => {
  t.test('events count for the seconds of the window, and leave it by the second', async (t) => {
    const clock = new ManualClock();
    clock.advance(1000 - (clock.monotonic() % 1000)); // to the start of a second
    const startMs = clock.monotonic();
    const window = new SlidingWindow(clock, 3);
    t.match([window.count, window.oldestEndMs], [0, undefined]);
    window.record();
    clock.advance(999);
    window.record();
    clock.advance(1);
    window.record();
    t.match([window.count, window.oldestEndMs], [3, startMs + 3000]);
    clock.advance(1999);
    t.equal(window.count, 3);
    clock.advance(1);
    t.match([window.count, window.oldestEndMs], [1, startMs + 4000]);
    window.clear();
    t.equal(window.count, 0);
  });
});
