import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Route } from './route.ts';

export interface RouteMatch {
  readonly route: Route;
  /** The raw text of each path parameter. */
  readonly pathTexts: Readonly<Record<string, string>>;
}

/** Returns a function that finds the route whose form a path has, whatever its parameters hold; undefined if none has. */
export function routeMatcher(routes: readonly Route[]): (path: string) => RouteMatch | undefined {
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
