import { RIGHT_TO_LEFT } from '../../shared/domain/quoted-name.ts';
import { readTables } from '../../shared/runtime/files/read-tables.ts';

/** Other characters by the letter that they look like, and what a character of a symbol may be written as. */
const [LOOK_ALIKES, SPELLINGS] = readTables(new URL('data/look-alikes.tsv', import.meta.url), 'table').map(
  ({ rows }) => new Map(rows.map(([character = '', others = '']) => [character, others])),
);

/** Where alphabets of letters in circles, in squares and of flags begin, which normalization leaves as they are. */
const ENCLOSED_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

const LETTER_OF = new Map(
  [...(LOOK_ALIKES ?? [])].flatMap(([letter, others]) => [
    ...[...others].map((other) => [other, letter] as const),
    ...ENCLOSED_ALPHABETS.map((first) => [String.fromCodePoint(first + letter.charCodeAt(0) - 0x41), letter] as const),
  ]),
);

const spellingOf = (character: string): string =>
  SPELLINGS?.get(character.toUpperCase()) ?? `[${character.toUpperCase()}${character.toLowerCase()}]`;

/** The length of a text that is read: a symbol is shorter, but invisible characters may pad it. */
const MAX_LENGTH = 1024;

/** The fewest letters by which the first word of a text counts as a symbol. */
const MIN_WORD_LENGTH = 3;

/** White space, and letters and signs that look like it. */
const BLANKS = /[\s\u2800\u3164\u115f\u1160\uffa0]+/;

/**
 * Returns a function that checks whether a text can be read as one of some symbols, or begins with one as a word: `USDC coin`.
 * Accents, signs and invisible characters count for nothing, and a character is any letter that it looks like. A text with
 * letters from right to left is also read in the order in which a line of such a language shows it.
 */
export function lookAlikeOf(symbols: Iterable<string>): (text: string) => boolean {
  const spellings = [...symbols].map((symbol) => [...symbol].map(spellingOf).join(''));
  const anySymbol = new RegExp(`^[$!|]*(?:${spellings.join('|')})[$!|]*$`);
  return (text) => {
    const read = text.slice(0, MAX_LENGTH);
    const orders = RIGHT_TO_LEFT.test(read) ? [read, read.split(RIGHT_TO_LEFT).reverse().join('')] : [read];
    return orders.some((order) => {
      const words = order.split(BLANKS).map(lettersOf);
      const first = words.find((word) => /\w/.test(word)) ?? '';
      return anySymbol.test(words.join('')) || (first.length >= MIN_WORD_LENGTH && anySymbol.test(first));
    });
  };
}

/** Returns the Latin letters, digits and signs of a symbol that a text can be read as. */
export function lettersOf(text: string): string {
  const plain = text.replace(/[™℠]/g, '').normalize('NFKD');
  return [...plain]
    .map((character) => LETTER_OF.get(character) ?? character)
    .join('')
    .replace(/[^A-Za-z0-9$|!]/g, '');
}
