import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import type { Route } from './route.ts';

export interface RouteMatch {
  readonly route: Route;
  readonly pathTexts: Readonly<Record<string, string>>;
}

/** Finds the route that a path matches, without validating its parameters; undefined if there is none. */
export type MatchRoute = (path: string) => RouteMatch | undefined;

interface Segment {
  readonly word: string;
  /** The name of the parameter that stands here; undefined for a fixed word. */
  readonly parameter: string | undefined;
}

/** Returns the matcher of a list of routes. The first route that matches wins. */
export function createRouteMatcher(routes: readonly Route[]): MatchRoute {
  const patterns = routes.map((route) => {
    const words = route.path.split('/').slice(1);
    const segments = words.map((word) => ({ word, parameter: word.startsWith(':') ? word.slice(1) : undefined }));
    return { route, segments };
  });
  return (path) => {
    if (!path.startsWith(PATH_START)) return undefined;
    const texts = path.slice(PATH_START.length).split('/');
    for (const { route, segments } of patterns) {
      const pathTexts = matched(segments, texts);
      if (pathTexts !== undefined) return { route, pathTexts };
    }
    return undefined;
  };
}

const PATH_START = `${API_PREFIX}/`;

/** Returns the texts of the parameters in a path; undefined if it has other segments. */
function matched(segments: readonly Segment[], texts: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== texts.length) return undefined;
  const pathTexts: Record<string, string> = {};
  for (let i = 0; i < segments.length; i++) {
    const { word, parameter } = segments[i] as Segment; // i is below both lengths
    const text = texts[i] as string;
    if (parameter === undefined ? text !== word : text === '') return undefined;
    if (parameter !== undefined) pathTexts[parameter] = text;
  }
  return pathTexts;
}
