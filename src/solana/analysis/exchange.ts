import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Holdings, Quantity } from './holdings.ts';

/** Somebody's trade: what a wallet gave and what it got, both positive. */
export interface Swap {
  /** Null where the trade is plain but not which of its two sides is the trader: then `given` and `got` may be reversed. */
  readonly wallet: string | null;
  readonly given: readonly Quantity[];
  readonly got: readonly Quantity[];
}

/** Above this many lamports SOL is a side of a trade; below it may be the deposit of a few accounts. */
const A_FEW_DEPOSITS = 10_000_000n;

/** The holdings as sides of a trade; SOL only where there is more of it than a few deposits. */
export function sidesOf({ sol, tokens }: Pick<Holdings, 'sol' | 'tokens'>): readonly Quantity[] {
  const substantial = sol > A_FEW_DEPOSITS || sol < -A_FEW_DEPOSITS;
  return substantial ? [...tokens, solQuantity(sol)] : tokens;
}

export const solQuantity = (amount: bigint): Quantity => ({ mint: WRAPPED_SOL, amount, decimals: 9 });
export const plain = ({ mint, amount, decimals }: Quantity): Quantity => ({ mint, amount, decimals });
export const negated = ({ mint, amount, decimals }: Quantity): Quantity => ({ mint, amount: -amount, decimals });
