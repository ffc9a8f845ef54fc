import type * as z from 'zod';
import { type ConfigLayer, topLayerAt, valueAt } from './config-layers.ts';
import { redactUrl } from './redact-url.ts';

type Path = readonly PropertyKey[];

/** The name may be a URL that was meant for a flag, so it is redacted. */
export const unknownNameMessage = (kind: string, name: string, known: Iterable<string>, otherwise = ''): string =>
  `unknown ${kind} ${redactUrl(name)}${nearestNameHint(name, known) || otherwise}`;

export const SEE_SETTINGS = '; see slotgate config schema';

/** Returns the end of a message about an unknown name: which known one is near, if one is. */
export function nearestNameHint(name: string, known: Iterable<string>, mostEdits?: number): string {
  const nearest = nearestName(name, known, mostEdits);
  return nearest === undefined ? '' : `, the nearest known name is ${nearest}`;
}

export const sectionNameMessage = (name: string, members: readonly string[], known: Iterable<string>): string =>
  `${name} is a group of settings${nearestNameHint(name, known, FEW_EDITS)}: set ${members.join(', ')}`;

export function describeIssue(
  issue: z.core.$ZodIssue,
  layers: readonly ConfigLayer[],
  names: Iterable<string>,
): string {
  const sourceOf = (path: Path): string => `(${topLayerAt(layers, path)?.source ?? 'not set'})`;
  const { path } = issue;
  if (issue.code === 'unrecognized_keys' && path[0] !== 'upstreams') {
    const keys = issue.keys.map((key) => [...path, key]);
    return keys
      .map((key) => `${unknownNameMessage('setting', pathText(key), names, SEE_SETTINGS)} ${sourceOf(key)}`)
      .join('; ');
  }
  const value = valueAt(topLayerAt(layers, path)?.values, path);
  return `${pathText(path)}: ${issue.message}, got ${redactedValue(path, value)} ${sourceOf(path)}${listHint(path, value)}`;
}

/** Returns how a list is written, if one of its values looks like several. */
const listHint = (path: Path, value: unknown): string =>
  typeof path.at(-1) === 'number' && path[0] !== 'upstreams' && typeof value === 'string' && /[,;|]/.test(value)
    ? '; a list has blanks or commas between its values, or is JSON'
    : '';

const pathText = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');

/** The settings whose text is a URL that may contain a key or a password, and the groups that contain them. */
const URL_SETTINGS =
  /^(upstreams(\[\d+\])?(\.geyser)?(\.(url|ws))?|redis(\.url)?|prices(\.jupiter(\.(url|tokensUrl))?)?)$/;

/** A host without the scheme of its URL: with a port, or by its last label. A key has neither. */
const BARE_HOST = /^([\w.-]+:\d{1,5}|localhost|[\w.-]+\.([a-z]{2,7}|\d{1,3}))(?=[/?#]|$)/;

/** Returns a value for messages: short, and without what may be a key. What should be a URL and is none may be a key alone. */
function redactedValue(path: Path, value: unknown): string {
  const shouldBeUrl = URL_SETTINGS.test(pathText(path));
  const shown = (text: string): string => {
    if (shouldBeUrl && text !== '' && !text.includes('://') && !BARE_HOST.test(text)) return '***';
    return shouldBeUrl || /:\/\/|[@?]/.test(text) ? redactUrl(text) : text;
  };
  const json = JSON.stringify(value, (_, member) => (typeof member === 'string' ? shown(member) : member));
  return json === undefined ? 'nothing' : json.length > 80 ? `${json.slice(0, 80)}…` : json;
}

/** Names have nothing in common if more edits lie between them than this number, and than this part of the letters. */
const FEW_EDITS = 2;
const MOST_OF_LETTERS = 0.4;

/** Returns the name in `known` with the smallest edit distance to `name`, which was most likely meant; undefined if none is near. */
function nearestName(
  name: string,
  known: Iterable<string>,
  mostEdits = Math.max(FEW_EDITS, name.length * MOST_OF_LETTERS),
): string | undefined {
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return fewest <= mostEdits ? best : undefined;
}

/** Returns the Levenshtein distance: insertions, deletions and changes of letters. One row of the table is enough. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      const change = (row[column] ?? 0) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
