import type { z } from 'zod';
import { type ConfigLayer, isSection, topLayerAt, valueAt } from './config-layers.ts';
import { FEW_EDITS, nearestName } from './nearest-name.ts';
import { redactUrl } from './upstreams-schema.ts';

type Path = readonly PropertyKey[];

/**
 * Returns the message for an unknown name, with the nearest known one. The name may be a URL that was meant for a flag,
 * so it is redacted.
 */
export const unknownNameMessage = (kind: string, name: string, known: Iterable<string>): string =>
  `unknown ${kind} ${redactUrl(name)}${nearestNameHint(name, known)}`;

/** Returns the end of a message about an unknown name: which known one is near, if one is. */
export function nearestNameHint(name: string, known: Iterable<string>, mostEdits?: number): string {
  const nearest = nearestName(name, known, mostEdits);
  return nearest === undefined ? '' : `, the nearest known name is ${nearest}`;
}

/** Returns the message for a name that is given a value where only its members can have one; a setting's name may be near. */
export const sectionNameMessage = (name: string, members: readonly string[], known: Iterable<string>): string =>
  `${name} is a group of settings${nearestNameHint(name, known, FEW_EDITS)}: set ${members.join(', ')}`;

/** Returns which name of the other kind is near, where a group is given a value, or a setting the members of a group. */
function otherKindHint({ code, path }: z.core.$ZodIssue, value: unknown, names: Iterable<string>): string {
  const known = [...names];
  const name = pathText(path);
  const isGroup = (candidate: string): boolean => known.some((other) => other.startsWith(`${candidate}.`));
  const isOfWrongKind = code.startsWith('invalid_') && known.includes(name) && isGroup(name) !== isSection(value);
  if (!isOfWrongKind) return '';
  return nearestNameHint(
    name,
    known.filter((candidate) => isGroup(candidate) !== isGroup(name)),
    FEW_EDITS,
  );
}

/** Describes a validation issue: the setting, the error, and the source of the value. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  layers: readonly ConfigLayer[],
  names: Iterable<string>,
): string {
  const sourceOf = (path: Path): string => `(${topLayerAt(layers, path)?.source ?? 'not set'})`;
  const { path } = issue;
  if (issue.code === 'unrecognized_keys' && path[0] !== 'upstreams') {
    const keys = issue.keys.map((key) => [...path, key]);
    return keys.map((key) => `${unknownNameMessage('setting', pathText(key), names)} ${sourceOf(key)}`).join('; ');
  }
  const value = valueAt(topLayerAt(layers, path)?.values, path);
  return `${pathText(path)}: ${issue.message}, got ${redactedValue(path, value)} ${sourceOf(path)}${otherKindHint(issue, value, names)}${listHint(path, value)}`;
}

/** Returns how a list is written, if one of its values looks like several. */
const listHint = (path: Path, value: unknown): string =>
  typeof path.at(-1) === 'number' && path[0] !== 'upstreams' && typeof value === 'string' && /[,;|]/.test(value)
    ? '; a list has blanks or commas between its values, or is JSON'
    : '';

/** `upstreams[0].url` */
const pathText = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');

/** Returns a value for messages: short, with URLs redacted, as their paths can contain a key. */
function redactedValue(path: Path, value: unknown): string {
  const isSecret = (text: string): boolean => path[0] === 'upstreams' || text.includes('://');
  const json = JSON.stringify(value, (_, member) =>
    typeof member === 'string' && isSecret(member) ? redactUrl(member) : member,
  );
  return json === undefined ? 'nothing' : json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
