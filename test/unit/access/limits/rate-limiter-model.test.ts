import t from 'tap';
import { limiterDifference } from '../../../support/access/limiter-model.ts';

t.test('18: over sequences of requests it admits what an exact model admits', async (t) => {
  for (let seed = 0; seed < 3_000; seed++) {
    const difference = limiterDifference(seed);
    if (difference !== undefined) t.fail(difference);
  }
  t.pass();
});
