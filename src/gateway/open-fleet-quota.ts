import { SeatLedger } from '../access/quota/seat-ledger.ts';
import { SharedQuota } from '../access/quota/shared-quota.ts';
import { SharedSeats } from '../access/quota/shared-seats.ts';
import { FleetSeats } from '../fleet/redis/fleet-seats.ts';
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

/** Opens the connections that callers have at the gateways of a fleet; undefined where there is no fleet. */
export function openFleetSeats({ clock, redis, disposals }: Environment, ledger: SeatLedger): FleetSeats | undefined {
  if (redis === undefined) return undefined;
  const seats = new FleetSeats({ clock, ledger });
  disposals.defer(() => seats.close());
  return seats;
}

/** Has a process that answers requests itself count its connections with those of the fleet; undefined without one. */
export function takeFleetSeats(env: Environment) {
  const ledger = new SeatLedger();
  const ofFleet = openFleetSeats(env, ledger);
  if (ofFleet === undefined) return undefined;
  const shared: SharedSeats = new SharedSeats({ hold: (held) => own.hold(held), afterTurn: setImmediate });
  const own = ledger.join((others) => shared.hear(others));
  return { shared, ofFleet };
}

/** Has a process that answers requests itself take part in the shares of a fleet. */
export function takeFleetShares({ clock, disposals }: Environment, fleetQuota: RedisQuotaLedger): SharedQuota {
  const ledger = fleetQuota.join('0', () => quota.retell());
  const afterTurn = (work: () => void) => clock.after(ASK_MS, work);
  const quota: SharedQuota = new SharedQuota({ ledger, clock, afterTurn });
  disposals.defer(() => quota.close());
  return quota;
}
