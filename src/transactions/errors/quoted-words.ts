import { quotedInSentence } from '../../shared/domain/quoted-name.ts';

/** The most characters of a program's own words that are quoted. */
const MAX_CHARACTERS = 120;

/** The dot and the colon by which a reader of text recognizes a link: `evil.com`, `https://`. */
const LINK_DOT = /(?<=[\p{L}\p{N}-])[.．。｡․﹒︒](?=[\p{L}\p{N}])/gu;
const LINK_SCHEME = /:(?=\/\/)/g;

/** Quotes what a stranger wrote for a sentence, with its links inert: `https[:]//evil[.]com`. Null if nothing is left to show. */
export function quotedWords(text: string, maxCharacters = MAX_CHARACTERS): string | null {
  const quoted = quotedInSentence(text, maxCharacters);
  return quoted === null ? null : withInertLinks(quoted);
}

/** Breaks the links in a text that is quoted already, but no decimal number. */
export const withInertLinks = (quoted: string): string =>
  quoted
    .replace(LINK_SCHEME, '[:]')
    .replace(LINK_DOT, (dot, place: number) =>
      /\d/.test(quoted[place - 1] ?? '') && /\d/.test(quoted[place + 1] ?? '') ? dot : '[.]',
    );
