import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import type { Route } from './route.ts';

export interface RouteMatch {
  readonly route: Route;
  readonly pathTexts: Readonly<Record<string, string>>;
}

/** Finds the route that a path matches, without validating its parameters; undefined if there is none. */
export type MatchRoute = (path: string) => RouteMatch | undefined;

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

/** Returns the matcher of a list of routes, whose paths begin with a word. The first route that matches wins. */
export function createRouteMatcher(routes: readonly Route[]): MatchRoute {
  const patternsByWord = new Map<string, Pattern[]>();
  for (const route of routes) {
    const segments = route.path.split('/').slice(1);
    const [word = ''] = segments;
    patternsByWord.set(word, [...(patternsByWord.get(word) ?? []), { route, segments }]);
  }
  return (path) => {
    if (!path.startsWith(`${API_PREFIX}/`)) return undefined;
    const pathSegments = path.slice(API_PREFIX.length + 1).split('/');
    for (const { route, segments } of patternsByWord.get(pathSegments[0] ?? '') ?? []) {
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
