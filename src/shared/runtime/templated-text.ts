import {
  LOADER_V2,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../domain/well-known-addresses.ts';

// The JSON of a hundred thousand token accounts differs in a few values: addresses and amounts. All else is stored once.

/** The parts of a text between its values. All texts that have them in common share one template. */
type Template = readonly string[];

/** The lengths of texts that have a template: shorter ones gain little, longer ones are mostly values. */
const MIN_LENGTH = 256;
const MAX_LENGTH = 4096;

/** The fewest and the most values of a text that has a template. */
const MIN_VALUES = 2;
const MAX_VALUES = 64;

/** The length from which a word without a digit is a value, too: no member has so long a name. */
const LONG_WORD = 32;

/** The most templates that are remembered, and the most keys of those that few texts have yet. */
const MAX_TEMPLATES = 1000;

/** The number of texts from which on they share a template: it needs more memory than one text, and nobody is charged for it. */
const MIN_SHARING = 8;

/** Separates values, and parts in the key of a template; JSON has no such character. */
const SEPARATOR = '\0';

/** Words that very many texts have: they stay in the template. */
const COMMON_WORDS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  UPGRADEABLE_LOADER,
  LOADER_V2,
  '18446744073709551615', // the rent epoch of nearly every account
]);

const templates = new Map<string, Template>();

const textCounts = new Map<string, number>();

/** A text that needs little memory of its own: it keeps its values, and shares the template that they belong in. */
export class TemplatedText {
  readonly #template: Template;
  readonly #values: string;

  constructor(template: Template, values: string) {
    this.#template = template;
    this.#values = values;
  }

  get ownLength(): number {
    return this.#values.length;
  }

  toString(): string {
    const values = this.#values.split(SEPARATOR);
    let text = '';
    for (let i = 0; i < values.length; i++) text += (this.#template[i] as string) + values[i]; // one part more than values
    return text + this.#template.at(-1);
  }
}

/** Returns the text as one with a template if many others share that, else as it is. It is for texts that are cached long. */
export function toTemplatedText(text: string): string | TemplatedText {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return text;
  const parts: string[] = [];
  const values: string[] = [];
  let partStart = 0;
  let wordStart = 0;
  let hasDigit = false;
  for (let i = 0; i <= text.length; i++) {
    const kind = i === text.length ? OTHER : (KINDS[text.charCodeAt(i)] ?? UNKNOWN);
    if (kind === UNKNOWN) return text;
    if (kind === DIGIT) hasDigit = true;
    if (kind !== OTHER) continue;
    const word = hasDigit || i - wordStart >= LONG_WORD ? text.slice(wordStart, i) : '';
    if (word !== '' && !COMMON_WORDS.has(word)) {
      parts.push(text.slice(partStart, wordStart));
      values.push(word);
      partStart = i;
    }
    wordStart = i + 1;
    hasDigit = false;
  }
  if (values.length < MIN_VALUES || values.length > MAX_VALUES) return text;
  parts.push(text.slice(partStart));
  const template = templateOf(parts.join(SEPARATOR));
  return template === undefined ? text : new TemplatedText(template, values.join(SEPARATOR));
}

function templateOf(key: string): Template | undefined {
  const known = templates.get(key);
  if (known !== undefined) return known;
  const count = (textCounts.get(key) ?? 0) + 1;
  textCounts.delete(key);
  if (count < MIN_SHARING) {
    setBounded(textCounts, key, count);
    return undefined;
  }
  const template = key.split(SEPARATOR);
  setBounded(templates, key, template);
  return template;
}

function setBounded<V>(map: Map<string, V>, key: string, value: V): void {
  const [oldest] = map.size === MAX_TEMPLATES ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const UNKNOWN = 3;

/** The kinds of one-byte characters: words consist of letters, digits, and what base64 and numbers have besides. */
const KINDS: readonly number[] = Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character === SEPARATOR) return UNKNOWN;
  if (/\d/.test(character)) return DIGIT;
  return /[\w+/=.-]/.test(character) ? LETTER : OTHER;
});
