/** How a sentence calls a token, safe to insert: whoever makes a token may write any text as its name. */
export interface TokenLabel {
  readonly text: string;
  /** Whether another token may be meant by it: the mint's address then stands beside it. */
  readonly isAmbiguous: boolean;
}

/** The longest text that is read: names are shorter, but invisible characters may pad them. */
const MAX_READ_LENGTH = 256;

/** The most characters of a name that are shown. */
const MAX_SHOWN_CHARACTERS = 32;

/** A symbol that can't be taken for words of the sentence around it; any other text is put in quotation marks. */
const PLAIN_SYMBOL = /^[A-Za-z$][A-Za-z0-9$]{0,11}$/;

/** Letters written from right to left: they would put the words around them in another order. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Returns how a sentence calls a token: by its symbol, else by its name; null if neither can be shown. */
export function tokenLabelText({ symbol, name }: { readonly symbol: string; readonly name: string }): string | null {
  const plain = symbol.trim();
  return PLAIN_SYMBOL.test(plain) ? plain : (quotedName(symbol) ?? quotedName(name));
}

/**
 * Returns somebody's text in quotation marks, without anything that could end them, hide, or change the order of the
 * words; null if nothing is left.
 */
export function quotedName(text: string, maxCharacters = MAX_SHOWN_CHARACTERS): string | null {
  const shown = text
    .slice(0, MAX_READ_LENGTH)
    .normalize('NFC')
    .replace(/\p{C}|["“”„‟«»〝〞]/gu, '')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S}]+/gu, ' ')
    .replace(/(\p{M})\p{M}+/gu, '$1')
    .trim();
  if (shown === '' || RIGHT_TO_LEFT.test(shown)) return null;
  const characters = [...shown];
  return `“${characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : shown}”`;
}
