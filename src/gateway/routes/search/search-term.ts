import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { SYMBOL_BY_MINT } from '../../../shared/domain/known-mints.ts';
import { KNOWN_PROGRAMS, parseSolDomain, type SolDomain } from '../../../transactions/index.ts';
import type { Param } from '../routing/params.ts';
import { findInUrl, isLowerCased } from './explorer-url.ts';
import { findKey, parseDigits, parseDomain, parseKey, parseNumber, type SearchSubject } from './search-subject.ts';

export type SearchTerm = { readonly query: string } & (
  | (SearchSubject & { readonly type: Exclude<SearchSubject['type'], 'domain'> })
  | { readonly type: 'domain'; readonly domain: SolDomain }
  | { readonly type: 'name'; readonly known: KnownName }
);

/** The longest text: with it the canonical request has the 2,045 bytes that a receipt can name. */
const MAX_LENGTH = 2024;

const WHAT_IS_FOUND =
  'an address, a signature, a slot, an epoch, a .sol name, a solana: request, a known ticker or program, the hash of a block read here, or the URL of an explorer, market or wallet';

/** `?q=`: any text that a user may paste. */
export const searchTerm: Param<SearchTerm, string> = {
  schema: { type: 'string', minLength: 1, maxLength: MAX_LENGTH },
  required: true,
  description: `Any text with ${WHAT_IS_FOUND}; a sign that a URL escapes counts as three characters`,
  parse(text, name) {
    const query = text?.trim() ?? '';
    if (text === undefined || query === '') throw new GatewayError('invalid_query', `${name} must not be empty`);
    if (query.length > MAX_LENGTH) throw unclassifiable(`${name} must have at most ${MAX_LENGTH} characters`);
    const plain = withoutPunctuation(query);
    const subject = classify(plain);
    const term = subject && toTerm(subject);
    if (term === undefined) throw unclassifiable(reasonFor(plain) ?? `${name} must be ${WHAT_IS_FOUND}`);
    return { query: text, ...term };
  },
};

const unclassifiable = (message: string): GatewayError => new GatewayError('unclassifiable', message);

/** Derives the accounts of a .sol name; undefined if it can be none. */
function toTerm(found: Classified) {
  if (found.type === 'name') return found;
  const { type, id } = found;
  if (type !== 'domain') return { type, id };
  const domain = parseSolDomain(id);
  return domain && { type, domain };
}

type Classified = SearchSubject | { readonly type: 'name'; readonly known: KnownName };

/**
 * Classifies a text. Base58 is tried first, because the System Program's address is all digits; a .sol name before names that
 * are known, whose punctuation doesn't count: `jito.sol` is no ticker.
 */
const classify = (text: string): Classified | undefined =>
  parseKey(text) ??
  parseNumber(text) ??
  parseDomain(text) ??
  classifyName(text) ??
  (/\s/.test(text) ? undefined : findInWord(text)) ??
  classifyNumberWithNoun(text) ??
  onlyOne(subjectsIn(text));

function classifyName(text: string): Classified | undefined {
  const known = findKnownName(text);
  return known && { type: 'name', known };
}

/** Finds the subject in a word: a payment URI, a URL, or an id with a label: `solana:…?amount=1`, `owner=…`. */
function findInWord(word: string): SearchSubject | undefined {
  if (/^solana:/i.test(word)) return findKey(word.split('?', 1)[0] ?? '');
  return /[/?]/.test(word) ? findInUrl(word) : (parseDomain(word) ?? findKey(word));
}

/** Classifies a number with its noun: `slot 445,000,000`, `Epoch: 580`, `block #445`. */
function classifyNumberWithNoun(text: string): SearchSubject | undefined {
  const [noun = '', ...rest] = text.split(/[\s:#=]/).filter((word) => word !== '');
  const type = NOUNS.get(noun.toLowerCase());
  return type && parseNumber(rest.join(' '), type);
}

const NOUNS: ReadonlyMap<string, 'slot' | 'epoch'> = new Map([
  ['slot', 'slot'],
  ['block', 'slot'],
  ['epoch', 'epoch'],
]);

const MAX_WORDS = 64;

/** Finds the subjects in a sentence. Numbers and tickers in it don't count: they may mean anything. */
function subjectsIn(text: string): SearchSubject[] {
  const words = text.split(/[\s<>()[\]{}"'`|«»“”‘’]+/, MAX_WORDS);
  const found = words.flatMap((word) => findInWord(withoutPunctuation(word)) ?? []);
  return [...new Map(found.map((subject) => [subject.id, subject])).values()];
}

const onlyOne = <T>(items: readonly T[]): T | undefined => (items.length === 1 ? items[0] : undefined);

/** What may enclose or end a pasted text. */
const OPENING = '"\'`<([{«“„‘‹*_~|';
const CLOSING = '"\'`>)]}»”’›*_~|.,;:!?…';

function withoutPunctuation(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && OPENING.includes(text.charAt(start))) start++;
  while (end > start && CLOSING.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end).trim();
}

/** Explains why a text that looks like something is not found. */
function reasonFor(text: string): string | undefined {
  const digits = parseDigits(text);
  if (digits !== undefined) return `${digits} is above 2^53 - 1, so it is no slot`;
  if (subjectsIn(text).length > 1) return 'the text names several addresses or signatures: search for one';
  if (isLowerCased(text))
    return 'this site writes addresses in lower case, which does not identify them: copy the address from its page';
  const suffix = NAME_WITH_SUFFIX.exec(text)?.[1]?.toLowerCase();
  return suffix === undefined || suffix === 'sol'
    ? undefined
    : `names that end in .${suffix} are not resolved: only .sol names are`;
}

/** A name of a name service: labels of letters, digits and hyphens, and a suffix of letters. */
const NAME_WITH_SUFFIX = /^(?:[\p{L}\p{N}-]{1,63}\.){1,3}(\p{L}{2,20})$/u;

/** A name that the gateway knows, and the addresses that it stands for: the mint of a ticker, then programs. */
interface KnownName {
  readonly name: string;
  readonly addresses: readonly [string, ...string[]];
}

const MAX_NAME_LENGTH = 40;

/** Finds a ticker or the name of a program, whatever its case and punctuation: `usdc`, `$BONK`, `Magic Eden`, `pump fun`. */
function findKnownName(text: string): KnownName | undefined {
  if (text.length > MAX_NAME_LENGTH || !/^\$?[a-z0-9]/i.test(text)) return undefined;
  const [key, withoutNoun] = [keyOf(text), keyOf(text.replace(/ (program|token)$/i, ''))];
  return NAMES.get(key) ?? NAMES.get(withoutNoun);
}

const keyOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

const NAMES: ReadonlyMap<string, KnownName> = collectNames([
  ...SYMBOL_BY_MINT,
  ...[...KNOWN_PROGRAMS].map(([id, { name }]) => [id, name] as const),
]);

function collectNames(rows: Iterable<readonly [address: string, name: string]>): ReadonlyMap<string, KnownName> {
  const names = new Map<string, KnownName>();
  for (const [address, name] of rows) {
    const known = names.get(keyOf(name));
    names.set(
      keyOf(name),
      known ? { ...known, addresses: [...known.addresses, address] } : { name, addresses: [address] },
    );
  }
  return names;
}
