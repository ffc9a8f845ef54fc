import t from 'tap';
import { repeat } from '../../../src/runtime/repeat.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('work is repeated at the interval until it is stopped', async (t) => {
  const clock = new ManualClock(0);
  const times: number[] = [];
  const stop = repeat(clock, 100, () => times.push(clock.monotonic()), 0);
  clock.advance(250);
  stop();
  clock.advance(1000);
  t.strictSame(times, [0, 100, 200]);
});

t.test('the interval starts when the work before has ended, even in a rejection', async (t) => {
  const clock = new ManualClock(0);
  const pending: ((error?: Error) => void)[] = [];
  const stop = repeat(clock, 100, () => {
    return new Promise<void>((resolve, reject) => {
      pending.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  });
  clock.advance(1000);
  t.equal(pending.length, 1, 'the first work is still running');
  pending[0]?.(new Error('failed'));
  await new Promise(setImmediate);
  clock.advance(99);
  t.equal(pending.length, 1);
  clock.advance(1);
  t.equal(pending.length, 2);
  stop();
  pending[1]?.();
  await new Promise(setImmediate);
  clock.advance(1000);
  t.equal(pending.length, 2, 'stopped while it ran');
});
