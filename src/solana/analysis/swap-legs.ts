import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { AssetAmount, WalletChanges } from './wallet-changes.ts';

/** Somebody's trade: what a wallet gave and what it got, both positive. */
export interface Swap {
  /** Null where the trade is plain but not which of its two sides is the trader: then `given` and `got` may be reversed. */
  readonly wallet: string | null;
  readonly inputs: readonly AssetAmount[];
  readonly outputs: readonly AssetAmount[];
}

/** Above this many lamports SOL is a side of a trade; below it may be the deposit of a few accounts. */
const MIN_SOL_LEG_LAMPORTS = 10_000_000n;

/** The holdings as sides of a trade; SOL only where there is more of it than a few deposits. */
export function swapLegsOf({ sol, tokens }: Pick<WalletChanges, 'sol' | 'tokens'>): readonly AssetAmount[] {
  const isSubstantial = sol > MIN_SOL_LEG_LAMPORTS || sol < -MIN_SOL_LEG_LAMPORTS;
  return isSubstantial ? [...tokens, solAmount(sol)] : tokens;
}

export const solAmount = (amount: bigint): AssetAmount => ({ mint: WRAPPED_SOL, amount, decimals: 9 });
export const toAssetAmount = ({ mint, amount, decimals }: AssetAmount): AssetAmount => ({ mint, amount, decimals });
export const negate = ({ mint, amount, decimals }: AssetAmount): AssetAmount => ({ mint, amount: -amount, decimals });
