import t from 'tap';
import { HottestFirst } from '../../../src/live/hottest-first.ts';
import { seededRng } from '../../../src/localnet/traffic/seeded-rng.ts';

t.test('the item of the highest rank comes first, of several the one that was first', async (t) => {
  const { intBelow } = seededRng(3);
  const queue = new HottestFirst<number>();
  const waiting: { readonly item: number; readonly rank: number }[] = [];
  const [popped, expected]: [unknown[], unknown[]] = [[], []];
  for (let item = 0; item < 2000; item++) {
    const rank = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, intBelow(20)][intBelow(3)] ?? 0;
    queue.push(item, rank);
    waiting.push({ item, rank });
    if (intBelow(3) > 0 && item < 1990) continue;
    popped.push(queue.pop()?.item);
    waiting.sort((a, b) => (a.rank === b.rank ? a.item - b.item : a.rank < b.rank ? 1 : -1));
    expected.push(waiting.shift()?.item);
  }
  for (let left = waiting.length; left >= 0; left--) {
    popped.push(queue.pop()?.item);
    expected.push(waiting.shift()?.item);
  }
  t.strictSame(popped, expected);
  t.equal(queue.size, 0);
});
