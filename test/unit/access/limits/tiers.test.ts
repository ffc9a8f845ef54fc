import fc from 'fast-check';
import t from 'tap';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';

t.test('the default tiers are those documented', async (t) => {
  t.match(DEFAULT_TIERS.free, { requests: 100, windowSeconds: 10, streams: 5, subscriptions: 10, priority: false });
  t.match(DEFAULT_TIERS.build, { requests: 500, windowSeconds: 10, streams: 50, subscriptions: 100, priority: false });
  t.match(DEFAULT_TIERS.scale, {
    requests: 30_000,
    windowSeconds: 60,
    streams: 250,
    subscriptions: 1000,
    priority: true,
  });
});

t.test('each step of a wallet’s balance adds the free tier once more, up to the limits', async () => {
  const least = (most: number, each: number, steps: bigint): number =>
    steps > 1_000_000n ? most : Math.min(most, each + each * Number(steps));
  fc.assert(
    fc.property(fc.oneof(fc.bigInt({ min: 1n, max: 300n }), fc.bigInt({ min: 1n, max: 2n ** 64n })), (steps) => {
      const { requests, windowSeconds, streams, subscriptions, priority } = DEFAULT_TIERS.staked(steps);
      return (
        requests === least(20_000, 100, steps) &&
        streams === least(250, 5, steps) &&
        subscriptions === least(1000, 10, steps) &&
        windowSeconds === 10 &&
        priority
      );
    }),
  );
});
