import type { ToldQuota } from '../../access/limits/quota.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { BASE_UNITS, NONCE_UNITS } from '../../domain/units.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import { type GetRoute, LARGE_READ_UNITS, type ParamSet, type Params } from '../../routing/route.ts';
import type { EngineRequest } from '../engine/engine.ts';
import { isUnmetered } from './path-kinds.ts';
import type { RequestArguments } from './request-arguments.ts';

/** Charges what a request cost in all, so many units of it for its answer. Returns the quota after that. */
export type Charge = (answerUnits: number) => ToldQuota;

/** Returns the units that a request costs, whatever becomes of it: those that are known before. */
export function unitsOf(req: EngineRequest, match: RouteMatch | undefined, args: RequestArguments): number {
  if (isUnmetered(match)) return 0;
  return routeUnits(match, args) + (req.getHeader('x-receipt-nonce') === '' ? 0 : NONCE_UNITS);
}

/** Returns the units that the route declares. Invalid parameters cost one: nothing is read for them. */
function routeUnits(match: RouteMatch | undefined, args: RequestArguments): number {
  if (match?.route.kind !== 'read' || match.route.unitsOf === undefined) return BASE_UNITS;
  try {
    return match.route.unitsOf(args.parse(match.route, match).params);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return BASE_UNITS; // the response tells what is wrong
    throw thrown;
  }
}

/** Returns the units that a miss of a route surely costs, besides those that every request does. */
export const missUnitsOf = (route: GetRoute, params: Params<ParamSet>): number =>
  route.kind === 'read' ? (route.missUnitsOf?.(params) ?? 0) : 0;

/** Returns the most units that a miss of a route may cost besides. */
export const mostUnitsOf = (route: GetRoute, params: Params<ParamSet>): number =>
  route.kind === 'read' ? (route.mostUnitsOf?.(params) ?? LARGE_READ_UNITS) : 0;
