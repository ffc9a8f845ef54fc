import { API_PREFIX } from '../domain/canonical-request.ts';
import { routes } from '../routes/index.ts';
import type { Route } from './route.ts';

export interface Match {
  readonly route: Route;
  /** The raw text of each path parameter. */
  readonly inPath: Readonly<Record<string, string>>;
}

const patterns = routes.map((route) => ({ route, segments: route.path.split('/').slice(1) }));

/** Finds the route whose form a path has, whatever its parameters hold; undefined if there is none. */
export function matchRoute(path: string): Match | undefined {
  if (!path.startsWith(`${API_PREFIX}/`)) return undefined;
  const parts = path.slice(API_PREFIX.length + 1).split('/');
  for (const { route, segments } of patterns) {
    const inPath: Record<string, string> = {};
    const fits = (segment: string, i: number): boolean => {
      const part = parts[i] ?? '';
      if (!segment.startsWith(':')) return segment === part;
      inPath[segment.slice(1)] = part;
      return part !== '';
    };
    if (segments.length === parts.length && segments.every(fits)) return { route, inPath };
  }
  return undefined;
}
