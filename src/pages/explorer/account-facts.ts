import { type Child, create } from '../browser/elements.ts';
import { decimalOf, wordsOf } from '../format/amounts.ts';
import { figures } from './figures.ts';
import { ADDRESS } from './id-forms.ts';
import { linkTo } from './links.ts';
import { strangersText } from './names.ts';
import { type Fact, facts } from './tables.ts';

/** The most members of a value that are shown, and the longest text. */
const MAX_FACTS = 40;
const MAX_TEXT_CHARACTERS = 256;

/** Members whose values are lamports. */
const LAMPORTS = /(^| )(lamports|rentExemptReserve|stake)$/;

/** Members whose values are as long as an address, and are none. */
const HASH = /hash$/i;

/** The epoch of what has not ended: the highest u64, which is a number in any other member. */
const NEVER = '18446744073709551615';

/** Shows the members of a value that a parser has read: addresses as links, lamports as SOL, members of members by path. */
export const factsOf = (value: unknown): HTMLElement => facts(factEntries(value));

export const factEntries = (value: unknown): readonly Fact[] => entriesOf(value, '').slice(0, MAX_FACTS);

function entriesOf(value: unknown, path: string): Fact[] {
  if (typeof value !== 'object' || value === null)
    return [[wordsOf(path.replace(/\blamports$/, 'amount')), shownValue(value, path)]]; // it is shown as SOL
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return [[wordsOf(path), create('span', { class: 'list' }, ...value.map((item) => shownValue(item, path)))]];
  if ('uiAmountString' in value) return [[wordsOf(path), shownValue(value.uiAmountString, path)]];
  return Object.entries(value).flatMap(([name, member]) =>
    entriesOf(member, Array.isArray(value) ? `${path} ${Number(name) + 1}` : path === '' ? name : `${path} ${name}`),
  );
}

function shownValue(value: unknown, path: string): Child {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = String(value);
  if (text === NEVER && /epoch$/i.test(path)) return 'never';
  const isWhole = /^\d{1,20}$/.test(text);
  if (isWhole && LAMPORTS.test(path)) return `${figures.decimal(decimalOf(text, 9))} SOL`;
  if (isWhole) return typeof value === 'string' ? text : figures.integer(BigInt(text));
  if (typeof value !== 'string') return text;
  if (/^\d+\.\d+$/.test(text)) return figures.decimal(text);
  if (!ADDRESS.test(text)) return strangersText(text, MAX_TEXT_CHARACTERS);
  return HASH.test(path) ? create('code', {}, text) : linkTo(text);
}
