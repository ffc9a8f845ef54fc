import { SYMBOL_BY_MINT } from '../../shared/domain/known-mints.ts';
import { CONTROLS } from '../../shared/domain/quoted-name.ts';
import type { RequestCost } from '../../shared/domain/units.ts';
import type { FindVerified } from '../prices/jupiter-verified-mints.ts';
import { lettersOf, lookAlikeOf } from './look-alike-symbol.ts';

export interface DescribedMint {
  readonly mint: string;
  readonly symbol: string | null;
  readonly name: string | null;
}

export type KnownMints = ReturnType<typeof createKnownMints>;

/** What looks like the mark of a known mint. */
const CHECK_MARKS = /[✓✔☑✅√⍻🗸🗹]/u;

/** Creates the list of known mints: the built-in ones, and those of the configuration by mint with their symbols. */
export function createKnownMints(
  configured: Readonly<Record<string, string>>,
  findVerified: FindVerified = async () => new Set(),
) {
  const symbolByMint = new Map([...SYMBOL_BY_MINT, ...Object.entries(configured)]);
  const looksKnown = lookAlikeOf(symbolByMint.values());
  return {
    /** Resolves to those of some mints that are known: to us, to the operator, or to a configured service. */
    async findVerified(mints: readonly string[], cost: RequestCost | undefined): Promise<ReadonlySet<string>> {
      const others = mints.filter((mint) => !symbolByMint.has(mint));
      const found = others.length === 0 ? new Set<string>() : await findVerified(others, cost);
      return new Set(mints.filter((mint) => symbolByMint.has(mint) || found.has(mint)));
    },
    symbolOf: (mint: string): string | undefined => symbolByMint.get(mint),
    /**
     * Returns whether a mint has the symbol of another, known one, or one that looks the same (its name, where the symbol has
     * no letters), or a symbol or name that deceives in itself: by control characters, by the order of its text, or by a check
     * mark.
     */
    isSuspicious: ({ mint, symbol, name }: DescribedMint): boolean =>
      !symbolByMint.has(mint) &&
      (looksKnown((symbol !== null && /\w/.test(lettersOf(symbol)) ? symbol : name) ?? '') ||
        [symbol ?? '', name ?? ''].some(deceives)),
  };
}

const deceives = (text: string): boolean =>
  CHECK_MARKS.test(text) || text.replace(/[\s\0]+$/, '').search(CONTROLS) !== -1;
