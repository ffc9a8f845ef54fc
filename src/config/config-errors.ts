import type { z } from 'zod';
import { type ConfigLayer, topLayerAt, valueAt } from './config-layers.ts';
import { nearestName } from './nearest-name.ts';
import { redactUrl } from './upstreams-schema.ts';

type Path = readonly PropertyKey[];

/** The words for a name that nothing bears (a URL, at times, that was meant for a flag), with the likeliest one. */
export const unknownNameMessage = (kind: string, name: string, known: Iterable<string>): string =>
  `unknown ${kind} ${redactUrl(name)}, the nearest known name is ${nearestName(name, known)}`;

/** A complaint of the schema in the operator's words: which setting, what is wrong with it, who said so. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  layers: readonly ConfigLayer[],
  names: Iterable<string>,
): string {
  const sourceOf = (path: Path): string => `(${topLayerAt(layers, path)?.source ?? 'said nowhere'})`;
  const { path } = issue;
  if (issue.code === 'unrecognized_keys' && path[0] !== 'upstreams') {
    const keys = issue.keys.map((key) => [...path, key]);
    return keys.map((key) => `${unknownNameMessage('setting', pathText(key), names)} ${sourceOf(key)}`).join('; ');
  }
  return `${pathText(path)}: ${issue.message}, got ${redactedValue(path, valueAt(topLayerAt(layers, path)?.values, path))} ${sourceOf(path)}`;
}

/** `upstreams[0].url` */
const pathText = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');

/** A value as it may be shown: short, and no URL whole, for its path can hold a key. */
function redactedValue(path: Path, value: unknown): string {
  const isSecret = (text: string): boolean => path[0] === 'upstreams' || text.includes('://');
  const json = JSON.stringify(value, (_, member) =>
    typeof member === 'string' && isSecret(member) ? redactUrl(member) : member,
  );
  return json === undefined ? 'nothing' : json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
