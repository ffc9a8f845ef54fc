import {
  LOADER_V2,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from './well-known-addresses.ts';

// The JSON of a hundred thousand token accounts differs in a few values: addresses and amounts. All else is kept once.

/** The parts of a text between its values. All texts that have them in common share one template. */
type Template = readonly string[];

/** The lengths of texts that have a template: shorter ones gain little, longer ones are mostly values. */
const MIN_LENGTH = 256;
const MAX_LENGTH = 4096;

/** The most values of a text that has a template. */
const MAX_VALUES = 64;

/** The length from which a word without a digit is a value, too: no member has so long a name. */
const LONG_WORD = 32;

/** The most templates that are remembered. */
const MAX_TEMPLATES = 1000;

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

/** A text that takes little memory of its own: it keeps its values, and shares the template that they belong in. */
export class TemplatedText {
  readonly #template: Template;
  readonly #values: string;

  constructor(template: Template, values: string) {
    this.#template = template;
    this.#values = values;
  }

  /** The length of what this text has alone. */
  get ownLength(): number {
    return this.#values.length;
  }

  /** Returns the whole text. */
  toString(): string {
    const values = this.#values.split(SEPARATOR);
    let text = '';
    for (let i = 0; i < values.length; i++) text += (this.#template[i] as string) + values[i]; // one part more than values
    return text + this.#template.at(-1);
  }
}

/** Returns the text as one with a template if that spares memory, else as it is. Texts that are kept for long are worth it. */
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
  if (values.length === 0 || values.length > MAX_VALUES) return text;
  parts.push(text.slice(partStart));
  return new TemplatedText(templateOf(parts.join(SEPARATOR)), values.join(SEPARATOR));
}

/** Returns the template with this key. When there are too many, the oldest is forgotten: texts that have it keep it. */
function templateOf(key: string): Template {
  const known = templates.get(key);
  if (known !== undefined) return known;
  const [oldest] = templates.size === MAX_TEMPLATES ? templates.keys() : [];
  if (oldest !== undefined) templates.delete(oldest);
  const template = key.split(SEPARATOR);
  templates.set(key, template);
  return template;
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
