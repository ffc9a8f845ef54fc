import { cutText } from './cut-text.ts';

/** The most characters of a token's symbol, its name and its `uri` in a list or on a page. */
export const MAX_SYMBOL_CHARACTERS = 32;
export const MAX_NAME_CHARACTERS = 64;
export const MAX_URI_CHARACTERS = 256;

/** Invisible characters that change the order of those around them. https://www.unicode.org/reports/tr9/ */
const BIDIRECTIONAL = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

/** What no text may do unseen: control characters, and those that change the order of others. */
export const CONTROLS = new RegExp(`[\\p{Cc}${BIDIRECTIONAL}]`, 'gu');

export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** What looks like a quotation mark. A half of one does not, and may be an apostrophe. */
const MARKS = /(?!['‘’‚‛＇])[\p{Quotation_Mark}″‶‴‷⁗〃ʺˮ˝˶᳓״❝❞❠🙶🙷🙸]|\u030b|\u030e|\u030f/gu;

/**
 * What looks like such a mark because its halves stand together. `MARKS` are removed before: that may join two halves. After
 * a whole run of halves no half is left beside it, so nothing is joined any more.
 * Source: what looks like U+0027 in https://www.unicode.org/Public/security/latest/confusables.txt
 */
const HALVES = /(?:['‘’‚‛❛❜❟ʹʻʼʽʾʿˈˊˋ˴՚՛՝Ꞌꞌ᾽᾿῾΄′‵`´＇׳ߴߵᑊᛌ]\p{M}*){2,}/gu;

/** Characters without a shape: default-ignorable ones, but for the selectors of an emoji's shape, and blanks among the letters. */
const SHAPELESS = /(?![\ufe0e\ufe0f])[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Returns what a stranger wrote in quotation marks, which it can't end: each control character, and each that changes the
 * order of text, is U+FFFD, white space is one space, and what can't be seen is left out. Null if nothing is left.
 */
export function quotedName(text: string, maxCharacters = MAX_SYMBOL_CHARACTERS): string | null {
  const shown = text
    .slice(0, 8 * maxCharacters) // names are shorter, but invisible characters may pad them
    .normalize('NFC')
    .replace(/[\s\0]+$/, '') // also the padding of old accounts
    .replace(/\s+/g, ' ')
    .replace(CONTROLS, '\ufffd')
    .replace(SHAPELESS, '')
    .replace(MARKS, '')
    .replace(HALVES, '')
    .replace(/ +/g, ' ')
    .replace(/(\p{M})\p{M}+/gu, '$1') // no pile of marks
    .trim();
  return shown === '' ? null : `“${cutText(shown, maxCharacters)}”`;
}

/**
 * Quotes what a stranger wrote for a sentence; null if nothing is left, or if it has letters that are written from right to
 * left: they would put the words and figures around them in another order.
 */
export const quotedInSentence = (text: string, maxCharacters?: number): string | null =>
  RIGHT_TO_LEFT.test(text) ? null : quotedName(text, maxCharacters);
