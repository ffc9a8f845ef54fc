import type { z } from 'zod';
import { type Layer, strongest, valueAt } from './layers.ts';
import { nearest } from './nearest.ts';
import { maskUrl } from './upstreams.ts';

type Path = readonly PropertyKey[];

/** The words for a name that nothing bears (a URL, at times, that was meant for a flag), with the likeliest one. */
export const unknownName = (what: string, name: string, known: Iterable<string>): string =>
  `unknown ${what} ${maskUrl(name)}, the nearest known name is ${nearest(name, known)}`;

/** A complaint of the schema in the operator's words: which setting, what is wrong with it, who said so. */
export function problem(issue: z.core.$ZodIssue, layers: readonly Layer[], names: Iterable<string>): string {
  const said = (path: Path): string => `(${strongest(layers, path)?.source ?? 'said nowhere'})`;
  const { path } = issue;
  if (issue.code === 'unrecognized_keys' && path[0] !== 'upstreams') {
    const keys = issue.keys.map((key) => [...path, key]);
    return keys.map((key) => `${unknownName('setting', spell(key), names)} ${said(key)}`).join('; ');
  }
  return `${spell(path)}: ${issue.message}, got ${show(path, valueAt(strongest(layers, path)?.values, path))} ${said(path)}`;
}

/** `upstreams[0].url` */
const spell = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');

/** A value as it may be shown: short, and no URL whole, for its path can hold a key. */
function show(path: Path, value: unknown): string {
  const secret = (text: string): boolean => path[0] === 'upstreams' || text.includes('://');
  const json = JSON.stringify(value, (_, member) =>
    typeof member === 'string' && secret(member) ? maskUrl(member) : member,
  );
  return json === undefined ? 'nothing' : json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
