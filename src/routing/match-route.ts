import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Route } from './route.ts';

/** A route, and the parameters in a path that it matches. */
export interface RouteMatch {
  readonly route: Route;
  /** Undecoded text of each path parameter, by name. */
  readonly pathTexts: Readonly<Record<string, string>>;
}

/** Finds the route that a path matches, without validating its parameters; undefined if there is none. */
export type MatchRoute = (path: string) => RouteMatch | undefined;

/** Returns the matcher of a list of routes. The first route that matches wins. */
export function createRouteMatcher(routes: readonly Route[]): MatchRoute {
  const patterns = routes.map((route) => ({ route, segments: route.path.split('/').slice(1) }));
  return (path) => {
    if (!path.startsWith(`${API_PREFIX}/`)) return undefined;
    const pathSegments = path.slice(API_PREFIX.length + 1).split('/');
    for (const { route, segments } of patterns) {
      const pathTexts: Record<string, string> = {};
      const matches = (segment: string, i: number): boolean => {
        const text = pathSegments[i] ?? '';
        if (!segment.startsWith(':')) return segment === text;
        pathTexts[segment.slice(1)] = text;
        return text !== '';
      };
      if (segments.length === pathSegments.length && segments.every(matches)) return { route, pathTexts };
    }
    return undefined;
  };
}
