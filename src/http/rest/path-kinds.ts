import { API_PREFIX } from '../../domain/canonical-request.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { matchRoute } from '../../routes/index.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import type { Route } from '../../routing/route.ts';

/** What may be at a path, and by which methods. */
export type PathKind = Route['kind'] | 'document' | 'page' | 'stream' | undefined;

/** What is at a path that no route declares. */
const FIXED_PATHS: ReadonlyMap<string, PathKind> = new Map([
  [`${API_PREFIX}/stream`, 'stream'],
  [`${API_PREFIX}/openapi.json`, 'document'],
  ['/verify', 'page'],
]);

export const pathKindOf = (url: string, match: RouteMatch | undefined): PathKind =>
  match?.route.kind ?? FIXED_PATHS.get(url);

/** A probe's requests count against nobody. */
export const isUnmetered = (match: RouteMatch | undefined): boolean =>
  match?.route.kind === 'local' && !match.route.isMetered;

/** The methods for a place, as `Allow` names them. */
export function allowedMethods(pathKind: PathKind): string {
  if (pathKind === undefined) return 'GET, HEAD, POST, OPTIONS';
  return pathKind === 'post' ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS';
}

/** Throws where there is nothing, or nothing for this method. */
export function checkMethod(method: 'get' | 'post' | 'other', pathKind: PathKind): void {
  if (pathKind === undefined) throwRouteNotFound();
  if (method === 'other' || (method === 'post') !== (pathKind === 'post')) {
    const allow = allowedMethods(pathKind);
    throw new GatewayError('method_not_allowed', `this path takes ${allow}`, { allow });
  }
  if (pathKind === 'stream')
    throw new GatewayError('upgrade_required', 'the stream is a WebSocket: ask for an upgrade');
}

export function throwRouteNotFound(): never {
  throw new GatewayError('route_not_found', 'no such route');
}

/** The name of what is at a path: that of its route, or the path itself; `none` where there is nothing. */
export function pathLabel(url: string): string {
  return matchRoute(url)?.route.path ?? (FIXED_PATHS.has(url) ? url.replace(API_PREFIX, '') : 'none');
}
