import { CounterMember } from '../access/quota/counter-member.ts';
import { RedisStore } from '../fleet/counters/redis-store.ts';
import type { Environment } from './environment.ts';

const GATHER_MS = 5;

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

/** Makes a process that answers requests itself a member of its fleet's counters. */
export function joinFleetCounters({ clock, disposals }: Environment, store: RedisStore): CounterMember {
  const counters = new CounterMember({ store, member: '0', clock, afterTurn: (work) => clock.after(GATHER_MS, work) });
  disposals.defer(() => counters.close());
  return counters;
}
