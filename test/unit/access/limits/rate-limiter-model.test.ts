import t from 'tap';
import { differenceIn } from '../../../support/access/limiter-model.ts';

t.test('18: over sequences of requests it admits what an exact model admits', async (t) => {
  for (let seed = 0; seed < 3_000; seed++) {
    const difference = differenceIn(seed);
    if (difference !== undefined) t.fail(difference);
  }
  t.pass();
});
