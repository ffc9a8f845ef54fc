import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import { MAX_NAME_CHARACTERS, quotedName } from '../../shared/domain/quoted-name.ts';
import { create } from '../browser/elements.ts';

interface TokenNames {
  readonly symbol: string | null;
  readonly name: string | null;
}

/** Shows what a stranger wrote, in quotation marks and in a direction of its own; null if nothing of it can be seen. */
export function strangersText(text: string | null | undefined, maxCharacters?: number): HTMLElement | null {
  const quoted = quotedName(text ?? '', maxCharacters);
  return quoted === null ? null : create('bdi', {}, quoted);
}

/** Shows what a token is called: a symbol of ours stands bare. Null for one without a name. */
export const tokenName = (mint: string, { symbol, name }: TokenNames): string | HTMLElement | null =>
  knownMintSymbol(mint) ?? strangersText(symbol) ?? strangersText(name, MAX_NAME_CHARACTERS);

/** The mark of a known token: it has a frame and a ground of its own, which no text can draw. */
export const knownBadge = (): HTMLElement =>
  create('span', { class: 'badge', title: 'on a list of known tokens' }, '✓ known');
