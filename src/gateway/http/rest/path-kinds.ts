import { API_PREFIX, ROUTE_NOT_FOUND } from '../../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { DOCUMENT_PATHS, SITE_PATHS, type SiteFile } from '../../../shared/site/site.ts';
import { matchRoute } from '../../routes/index.ts';
import type { RouteMatch } from '../../routes/routing/match-route.ts';
import type { Route, RouteContext } from '../../routes/routing/route.ts';

/** The kind of resource at a path, which decides its methods; undefined for a path that does not exist. */
export type PathKind = Route['kind'] | 'document' | 'page' | 'stream' | undefined;

/** The paths that no route declares. */
const FIXED_PATHS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  [`${API_PREFIX}/stream`, 'stream'],
  ...[...DOCUMENT_PATHS.keys()].map((path) => [path, 'document'] as const),
]);

/** The documents that the gateway serves, and its pages unless they are switched off, by path. */
export type SitePaths = ReadonlyMap<string, SiteFile>;

export const pathKindOf = (url: string, match: RouteMatch | undefined, site: SitePaths): PathKind =>
  match?.route.kind ?? FIXED_PATHS.get(url) ?? (site.has(url) ? 'page' : undefined);

const CLUSTER_KINDS: ReadonlySet<PathKind> = new Set(['live', 'read', 'post', 'stream']);

/** Throws `upstream_unavailable` for a path that is answered from the cluster while no answer of it is there yet. */
export function checkStarted(
  pathKind: PathKind,
  { startupProblem }: Pick<RouteContext, 'startupProblem'>,
  match?: RouteMatch,
): void {
  const needsNone = match?.route.kind === 'post' && !match.route.hasSlot; // as `/explain`
  const problem = CLUSTER_KINDS.has(pathKind) && !needsNone ? startupProblem() : undefined;
  if (problem === undefined) return;
  throw new GatewayError('upstream_unavailable', `${problem}. Retry in a moment; /health shows when it is up`);
}

/** Returns true for the routes that balancers and probes poll: they cost no quota. */
export const isUnmetered = (match: RouteMatch | undefined): boolean =>
  match?.route.kind === 'local' && !match.route.isMetered;

/** Returns the methods of a path as the `Allow` header lists them. */
export const allowedMethods = (pathKind: NonNullable<PathKind>): string =>
  pathKind === 'post' ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS';

interface MethodRequest {
  readonly method: 'get' | 'head' | 'post' | 'other';
  readonly url: string;
  readonly pathKind: PathKind;
}

/** Checks that the path exists and allows the method. Throws `route_not_found`, `method_not_allowed`. */
export function checkMethod({ method, url, pathKind }: MethodRequest, site: SitePaths): void {
  const jsonRpc = method === 'post' ? `; JSON-RPC is at POST ${API_PREFIX}/rpc` : '';
  if (pathKind === undefined) {
    const docs = url.startsWith('/docs/') && site.has('/docs') ? '; /docs lists the chapters' : '';
    throw new GatewayError('route_not_found', ROUTE_NOT_FOUND + jsonRpc + docs);
  }
  if (method === 'other' || (method === 'post') !== (pathKind === 'post')) {
    const allow = allowedMethods(pathKind);
    throw new GatewayError('method_not_allowed', `this path allows ${allow}${jsonRpc}`, { allow });
  }
}

export function throwRouteNotFound(): never {
  throw new GatewayError('route_not_found', ROUTE_NOT_FOUND);
}

/** Returns the name of a path in usage records and metrics: its route's path, or the path itself, or `none` if it does not exist. */
export function pathLabel(url: string, match = matchRoute(url)): string {
  return match?.route.path ?? (FIXED_PATHS.has(url) || SITE_PATHS.has(url) ? url.replace(API_PREFIX, '') : 'none');
}
