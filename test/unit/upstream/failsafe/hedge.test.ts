import fc from 'fast-check';
import t from 'tap';
import { hedgedFailover } from '../../../../src/upstream/failsafe/hedge.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

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

t.test('a failure starts the next attempt at once, a final one does not', async (t) => {
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
