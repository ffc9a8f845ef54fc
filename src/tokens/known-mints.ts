import type { RequestCost } from '../domain/request-cost.ts';
import type { FindVerified } from '../prices/jupiter-verified-mints.ts';
import { SYMBOL_BY_MINT } from '../solana/accounts/known-mints.ts';
import { readingsOf } from './look-alike-symbol.ts';

/** A mint as its creator describes it: anybody may write any text there. */
export interface DescribedMint {
  readonly mint: string;
  readonly symbol: string | null;
  readonly name: string | null;
}

/** Tells known mints from those that only look like one. */
export interface KnownMints {
  /** Resolves to those of some mints that are known: to us, to the operator, or to a configured service. */
  findVerified(mints: readonly string[], cost?: RequestCost): Promise<ReadonlySet<string>>;
  /** Returns whether a mint has the symbol of another, known one, or one that looks the same; without one, its name counts. */
  isImitation(mint: DescribedMint): boolean;
}

/** Creates the list of known mints: the built-in ones, and those of the configuration by mint with their symbols. */
export function createKnownMints(
  configured: Readonly<Record<string, string>>,
  findVerified: FindVerified = async () => new Set(),
): KnownMints {
  const symbolByMint = new Map([...SYMBOL_BY_MINT, ...Object.entries(configured)]);
  const symbols = new Set([...symbolByMint.values()].map((symbol) => symbol.toUpperCase()));
  const mostLetters = Math.max(...[...symbols].map(({ length }) => length));
  const looksKnown = (text: string | null): boolean =>
    text !== null && [...readingsOf(text, mostLetters)].some((reading) => symbols.has(reading));
  return {
    async findVerified(mints, cost) {
      const others = mints.filter((mint) => !symbolByMint.has(mint));
      const found = others.length === 0 ? new Set<string>() : await findVerified(others, cost);
      return new Set(mints.filter((mint) => symbolByMint.has(mint) || found.has(mint)));
    },
    isImitation: ({ mint, symbol, name }) => !symbolByMint.has(mint) && looksKnown(symbol ?? name),
  };
}
