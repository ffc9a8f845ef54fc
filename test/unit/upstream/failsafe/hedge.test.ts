import fc from 'fast-check';
import t from 'tap';
import { hedgedFailover } from '../../../../src/upstream/failsafe/hedge.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** What a try does: after so long it gives a result, good or not, or fails, for good or not. */
interface Play {
  readonly ms: number;
  readonly end: 'good' | 'poor' | 'failed' | 'final';
}

const HEDGE_MS = 50;

async function run(plays: readonly Play[]) {
  const clock = new ManualClock(0);
  const begun: number[] = [];
  let told: { readonly index: number; readonly failed: boolean; readonly atMs: number } | undefined;
  const attempts = plays.map(({ ms, end }, index) => () => {
    begun.push(clock.monotonic());
    return new Promise<number>((resolve, reject) => {
      clock.after(ms, () => (end === 'good' || end === 'poor' ? resolve(index) : reject(index)));
    });
  });
  hedgedFailover({
    attempts,
    clock,
    hedgeAfterMs: HEDGE_MS,
    isAcceptable: (index) => plays[index]?.end === 'good',
    isFinal: (index) => plays[Number(index)]?.end === 'final',
    isLessInformative: () => false,
  }).then(
    (index) => {
      told = { index, failed: false, atMs: clock.monotonic() };
    },
    (thrown) => {
      told = { index: Number(thrown), failed: true, atMs: clock.monotonic() };
    },
  );
  for (let ms = 0; ms <= 1200 && told === undefined; ms++) {
    await new Promise(setImmediate);
    clock.advance(1);
  }
  return { told, begun };
}

t.test('a quick answer is the only attempt', async (t) => {
  const { told, begun } = await run([
    { ms: 49, end: 'good' },
    { ms: 1, end: 'good' },
  ]);
  t.match(told, { index: 0, failed: false });
  t.equal(begun.length, 1);
});

t.test('the second is asked beside a slow first, the third is not', async (t) => {
  const { told, begun } = await run([
    { ms: 200, end: 'good' },
    { ms: 100, end: 'good' },
    { ms: 1, end: 'good' },
  ]);
  t.match(told, { index: 1, failed: false });
  t.strictSame(begun, [0, HEDGE_MS]);
});

t.test('a failure goes on to the next at once, one that is the same everywhere does not', async (t) => {
  const passed = await run([
    { ms: 5, end: 'failed' },
    { ms: 5, end: 'final' },
    { ms: 5, end: 'good' },
  ]);
  t.match(passed.told, { index: 1, failed: true });
  t.equal(passed.begun.length, 2);
});

t.test('a poor answer stands when nobody has a better one', async (t) => {
  const { told } = await run([
    { ms: 5, end: 'poor' },
    { ms: 5, end: 'failed' },
    { ms: 5, end: 'poor' },
  ]);
  t.match(told, { index: 0, failed: false });
});

t.test('whatever the tries do, the best outcome there is comes out, and each begins at most once', async () => {
  const play = fc.record({
    ms: fc.integer({ min: 1, max: 120 }),
    end: fc.constantFrom<Play['end']>('good', 'poor', 'failed', 'failed', 'final'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(play, { minLength: 1, maxLength: 4 }), async (plays) => {
      const { told, begun } = await run(plays);
      if (told === undefined || begun.length > plays.length) return false;
      const { end } = plays[told.index] ?? {};
      const tried = plays.slice(0, begun.length);
      if (end === 'good' || end === 'final') return told.failed === (end === 'final');
      if (begun.length < plays.length) return false; // it gave up too early
      if (end === 'poor') return !tried.some((other) => other.end === 'good' || other.end === 'final');
      return tried.every((other) => other.end === 'failed');
    }),
    { numRuns: 60 },
  );
});
