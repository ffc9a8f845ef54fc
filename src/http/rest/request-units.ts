import type { HttpRequest } from 'uWebSockets.js';
import type { Entry } from '../../cache/entry.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import { isUnmetered } from './path-kinds.ts';
import type { RequestArguments } from './request-arguments.ts';

/** The units that a nonce adds: an answer signed for one caller costs more than one for all. */
export const NONCE_UNITS = 1;

/** Returns the units that a plain hit costs. */
export const unitsOfHit = ({ meta }: Entry): number => meta.units ?? 1;

/** Returns the units that a request costs, whatever becomes of it. */
export function unitsOf(req: HttpRequest, match: RouteMatch | undefined, args: RequestArguments): number {
  if (isUnmetered(match)) return 0;
  return routeUnits(match, args) + (req.getHeader('x-receipt-nonce') === '' ? 0 : NONCE_UNITS);
}

/** Returns the units that the route declares. Invalid parameters cost one: nothing is read for them. */
function routeUnits(match: RouteMatch | undefined, args: RequestArguments): number {
  if (match?.route.kind !== 'read' || match.route.unitsOf === undefined) return 1;
  try {
    return match.route.unitsOf(args.parse(match.route, match).params);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return 1; // the response tells what is wrong
    throw thrown;
  }
}
