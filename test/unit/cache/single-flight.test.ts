import t from 'tap';
import { SingleFlight } from '../../../src/cache/single-flight.ts';

t.test('concurrent callers of the same key share one piece of work', async (t) => {
  const flight = new SingleFlight<number>();
  let started = 0;
  let land = (_: number): void => {};
  const start = () => {
    started++;
    return new Promise<number>((resolve) => {
      land = resolve;
    });
  };
  const waiting = [flight.run('a', start), flight.run('a', start), flight.run('a', start)];
  t.equal(started, 1);
  t.equal(flight.size, 1);
  land(7);
  t.same(await Promise.all(waiting), [7, 7, 7]);
  t.equal(flight.size, 0);
  t.equal(await flight.run('a', async () => 8), 8, 'the next call starts new work');
});

t.test('they share its failure, which is not kept', async (t) => {
  const flight = new SingleFlight<number>();
  const fails = () => Promise.reject(new Error('no'));
  const outcomes = await Promise.allSettled([flight.run('a', fails), flight.run('a', fails)]);
  t.ok(outcomes.every(({ status }) => status === 'rejected'));
  t.equal(await flight.run('a', async () => 1), 1);
});

t.test('work of different keys runs concurrently', async (t) => {
  const flight = new SingleFlight<string>();
  t.same(await Promise.all(['a', 'b'].map((key) => flight.run(key, async () => key))), ['a', 'b']);
});
