import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Entry, SealJob } from '../../../src/cache/entry.ts';
import { SealQueue } from '../../../src/serving/seal-queue.ts';

/** Opens a queue that records its batches as keys. */
function openQueue(maxBatchSize: number) {
  const batches: string[][] = [];
  const sealBatch = (batch: readonly SealJob[]): void =>
    void batches.push(batch.map(({ entry, nonce }) => nonce ?? entry.key));
  return { batches, queue: new SealQueue({ maxBatchSize, sealBatch }) };
}

const entryOf = (key: string): Entry => ({ key, result: '' }) as Entry; // the queue reads nothing else

t.test('all jobs of a turn are sealed at its end, in batches and in order', async (t) => {
  const { queue, batches } = openQueue(2);
  for (const key of ['a', 'b', 'c']) queue.addShared(entryOf(key), false);
  t.same([queue.length, batches], [3, []]);
  await turn();
  await turn();
  t.same([queue.length, batches], [0, [['a', 'b'], ['c']]]);
});

t.test('an entry is queued once, a body with a nonce each time', async (t) => {
  const { queue, batches } = openQueue(64);
  const entry = entryOf('a');
  const job = queue.addShared(entry, true);
  t.equal(queue.addShared(entry, false), job);
  for (const nonce of ['x', 'y']) queue.add({ entry, nonce, isHeldBack: false, waiters: [] });
  await turn();
  t.same(batches, [['a', 'x', 'y']]);
  t.not(queue.addShared(entry, false), job, 'it can be queued again once it is sealed');
});
