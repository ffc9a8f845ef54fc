import { decodeUri } from '../../../shared/domain/decode-uri.ts';
import { readTables } from '../../../shared/runtime/files/read-tables.ts';
import { findKey, parseDomain, parseKey, parseNumber, type SearchSubject } from './search-subject.ts';

/** Path segments before a number, by what the number is. Without one a number in a URL can be anything. */
const NUMBER_WORDS: ReadonlyMap<string | undefined, 'slot' | 'epoch'> = new Map([
  ['block', 'slot'],
  ['blocks', 'slot'],
  ['slot', 'slot'],
  ['slots', 'slot'],
  ['epoch', 'epoch'],
  ['epochs', 'epoch'],
]);

/** Query parameters that name the subject of a page, the likeliest first; that were typed into a search box; and others. */
const [SUBJECT_PARAMETERS = [], TEXT_PARAMETERS = [], OTHER_PARAMETERS = []] = readTables(
  new URL('data/url-parameters.tsv', import.meta.url),
  'parameters',
).map(({ rows }) => rows.flat());

/**
 * Finds the subject of a web page in its URL: an address, a signature, a slot, an epoch or a .sol name. No list of sites
 * is needed for it, since a text of 32 or 64 bytes in base58 is nothing else. Of several in the path the last is the
 * subject, as in `/squads/<multisig>/transactions/<transaction>`. `data/url-parameters.tsv` lists the shapes that were met.
 */
export const findInUrl = (text: string): SearchSubject | undefined => findIn(parseUrl(text), true);

/** Whether a URL is of a site that writes addresses in lower case, from which nobody can get them back. */
export function isLowerCased(text: string): boolean {
  const url = parseUrl(text);
  return url !== undefined && /(^|\.)dexscreener\.com$/.test(url.hostname) && segmentsOf(url).some(isLowerCasedKey);
}

/** Whether a text is as long as an address and has only small letters, of which an address has one in 10^11. */
const isLowerCasedKey = (text: string): boolean =>
  text.length >= 32 && text.length <= 44 && !/[A-Z]/.test(text) && (text.match(/[a-z]/g)?.length ?? 0) >= 16;

/** Parses a URL, also one without scheme, or a path alone. */
function parseUrl(text: string): URL | undefined {
  const isAbsolute = /^https?:\/\//i.test(text);
  if (!isAbsolute && !/[/?]/.test(text)) return undefined;
  try {
    return new URL(isAbsolute ? text : text.startsWith('/') ? `https://localhost${text}` : `https://${text}`);
  } catch {
    return undefined;
  }
}

function findIn(url: URL | undefined, mayNest: boolean): SearchSubject | undefined {
  if (url === undefined || isLowerCased(url.href)) return undefined;
  return findInPath(segmentsOf(url), mayNest) ?? findInQuery(url.searchParams);
}

const segmentsOf = ({ pathname, hash }: URL): string[] => `${pathname}/${hash.slice(1)}`.split('/').map(decodeUri);

/** Finds the last subject in a path. A URL within it, as a wallet's link to a page has it, counts as a whole. */
function findInPath(segments: readonly string[], mayNest: boolean): SearchSubject | undefined {
  let last: SearchSubject | undefined;
  for (const [i, segment] of segments.entries()) {
    const numbered = NUMBER_WORDS.get(segments[i - 1]?.toLowerCase());
    last =
      (numbered && parseNumber(segment, numbered)) ??
      (mayNest && /^https?:\/\//i.test(segment) ? findIn(parseUrl(segment), false) : undefined) ??
      findKey(segment) ??
      parseBase64Key(segment) ??
      parseDomain(segment) ??
      last;
  }
  return last;
}

/** Reads an address whose base58 text was written in base64 once more, as v3.squads.so does. */
function parseBase64Key(segment: string): SearchSubject | undefined {
  const isOfLength = segment.length >= 44 && segment.length <= 60; // base64 of 32 to 44 characters
  return isOfLength ? parseKey(Buffer.from(segment, 'base64').toString('latin1')) : undefined;
}

function findInQuery(query: URLSearchParams): SearchSubject | undefined {
  const values = new Map<string, string>();
  for (const [name, value] of query) if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value.trim());
  for (const name of SUBJECT_PARAMETERS) {
    const found = findInValue(name, values.get(name));
    if (found !== undefined) return found;
  }
  for (const name of TEXT_PARAMETERS) {
    const text = values.get(name);
    const found = text === undefined ? undefined : (parseKey(text) ?? parseNumber(text) ?? parseDomain(text));
    if (found !== undefined) return found;
  }
  for (const [name, value] of values) {
    const found = OTHER_PARAMETERS.includes(name) ? undefined : findKey(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInValue(name: string, value: string | undefined): SearchSubject | undefined {
  if (value === undefined) return undefined;
  const numbered = NUMBER_WORDS.get(name);
  return numbered === undefined ? (findKey(value) ?? parseDomain(value)) : parseNumber(value, numbered);
}
