import { SharedQuota } from '../access/quota/shared-quota.ts';
import { RedisQuotaLedger } from '../fleet/redis/redis-quota-ledger.ts';
import type { Environment } from './environment.ts';

/** The time for which asks for shares are gathered into one call of Redis, in milliseconds. */
const ASK_MS = 5;

/** Opens the shares of limits that the gateways of a fleet have; undefined where there is no fleet. */
export function openFleetQuota({ clock, log, redis }: Environment): RedisQuotaLedger | undefined {
  if (redis === undefined) return undefined;
  return new RedisQuotaLedger({
    clock,
    onAlone: () => log.warn({}, "Redis can't be asked: this gateway holds callers to its own part of their limits"),
    onShared: () => log.info({}, 'limits are shared with the fleet'),
  });
}

/** Has a process that answers requests itself take part in the shares of a fleet. */
export function takeFleetShares({ clock, disposals }: Environment, fleetQuota: RedisQuotaLedger): SharedQuota {
  const ledger = fleetQuota.join('0', () => quota.retell());
  const afterTurn = (work: () => void) => clock.after(ASK_MS, work);
  const quota: SharedQuota = new SharedQuota({ ledger, clock, afterTurn });
  disposals.defer(() => quota.close());
  return quota;
}
