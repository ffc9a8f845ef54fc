import { RedisStore } from '../fleet/counters/redis-store.ts';
import type { Environment } from './environment.ts';

/** Opens the store that adds up what the gateways of a fleet count; undefined where there is no fleet. */
export function openRedisStore({ clock, log, redis, disposals }: Environment): RedisStore | undefined {
  if (redis === undefined) return undefined;
  const store = new RedisStore({
    clock,
    onStandalone: () =>
      log.warn({}, 'Redis does not count: this gateway limits callers to its own part of their limits'),
    onShared: () => log.info({}, 'limits are shared with the fleet'),
  });
  disposals.defer(() => store.close());
  return store;
}
