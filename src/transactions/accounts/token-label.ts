import { quotedInSentence } from '../../shared/domain/quoted-name.ts';

/** How a sentence calls a token, safe to insert: the maker of a token may write any text as its name. */
export interface TokenLabel {
  readonly text: string;
  /** Whether another token may be meant by it: the mint's address then stands beside it. */
  readonly isAmbiguous: boolean;
}

/** Returns how a sentence calls a token: by its symbol, else by its name; null if neither can be shown. */
export const tokenLabelText = ({ symbol, name }: { readonly symbol: string; readonly name: string }): string | null =>
  quotedInSentence(symbol) ?? quotedInSentence(name);
