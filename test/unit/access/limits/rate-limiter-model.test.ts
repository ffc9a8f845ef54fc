import t from 'tap';
import { limiterDifference } from '../../../support/access/limiter-model.ts';

t.test('18: over sequences of requests it admits what an exact model admits', async (t) => {
  const differences = Array.from({ length: 3_000 }, (_, seed) => limiterDifference(seed, { hasDebt: false }));
  t.same([...new Set(differences)], [undefined]);
});

t.test('over sequences with charges that come later, too', async (t) => {
  const differences = Array.from({ length: 3_000 }, (_, seed) => limiterDifference(seed, { hasDebt: true }));
  t.same([...new Set(differences)], [undefined]);
});
