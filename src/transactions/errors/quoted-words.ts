import { quotedInSentence } from '../../shared/domain/quoted-name.ts';

/** The most characters of a program's own words that are quoted. */
const MAX_CHARACTERS = 120;

/** The dot and the colon by which a reader of text recognizes a link: `evil.com`, `https://`. */
const LINK_DOT = /(?<=[\p{L}\p{N}-])\.(?=\p{L}{2})/gu;
const LINK_SCHEME = /:(?=\/\/)/g;

/** Quotes what a program logged, with its links inert: `https[:]//evil[.]com`. Null if nothing is left to show. */
export const quotedWords = (text: string): string | null =>
  quotedInSentence(text, MAX_CHARACTERS)?.replace(LINK_SCHEME, '[:]').replace(LINK_DOT, '[.]') ?? null;
