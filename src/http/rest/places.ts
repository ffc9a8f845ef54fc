import { API_PREFIX } from '../../domain/canonical-request.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { type Match, matchRoute } from '../../routing/match.ts';
import type { Route } from '../../routing/route.ts';

/** What may be at a path, and by which methods. */
export type Place = Route['kind'] | 'document' | 'page' | 'stream' | undefined;

/** What is at a path that no route declares. */
const PLACES: ReadonlyMap<string, Place> = new Map([
  [`${API_PREFIX}/stream`, 'stream'],
  [`${API_PREFIX}/openapi.json`, 'document'],
  ['/verify', 'page'],
]);

export const placeOf = (url: string, match: Match | undefined): Place => match?.route.kind ?? PLACES.get(url);

/** A probe's requests count against nobody. */
export const isFree = (match: Match | undefined): boolean => match?.route.kind === 'now' && !match.route.metered;

/** The methods for a place, as `Allow` names them. */
export function allowed(place: Place): string {
  if (place === undefined) return 'GET, HEAD, POST, OPTIONS';
  return place === 'post' ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS';
}

/** Throws where there is nothing, or nothing for this method. */
export function checkMethod(method: 'get' | 'post' | 'other', place: Place): void {
  if (place === undefined) noRoute();
  if (method === 'other' || (method === 'post') !== (place === 'post')) {
    const allow = allowed(place);
    throw new GatewayError('method_not_allowed', `this path takes ${allow}`, { allow });
  }
  if (place === 'stream') throw new GatewayError('upgrade_required', 'the stream is a WebSocket: ask for an upgrade');
}

export function noRoute(): never {
  throw new GatewayError('route_not_found', 'no such route');
}

/** The name of what is at a path: that of its route, or the path itself; `none` where there is nothing. */
export function placeName(url: string): string {
  return matchRoute(url)?.route.path ?? (PLACES.has(url) ? url.replace(API_PREFIX, '') : 'none');
}
