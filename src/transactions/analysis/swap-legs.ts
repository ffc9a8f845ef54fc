import { type AssetAmount, solAmount } from './asset-amount.ts';
import type { WalletChanges } from './wallet-changes.ts';

/** A trade: the amounts that a wallet gave and received, both positive. */
export interface Swap {
  /** Null if it is unclear which of the two sides is the trader: then `inputs` and `outputs` may be reversed. */
  readonly wallet: string | null;
  readonly inputs: readonly AssetAmount[];
  readonly outputs: readonly AssetAmount[];
  /** The program in whose calls both sides moved. */
  readonly program: string | null;
}

/** The change in lamports above which SOL counts as a leg of a trade; less may be the deposit of a few accounts. */
const MIN_SOL_LEG_LAMPORTS = 10_000_000n;

/** Returns a wallet's changes as legs of a trade, with SOL only if it exceeds a few deposits. */
export function swapLegsOf({ sol, tokens }: Pick<WalletChanges, 'sol' | 'tokens'>): readonly AssetAmount[] {
  const isSubstantial = sol > MIN_SOL_LEG_LAMPORTS || sol < -MIN_SOL_LEG_LAMPORTS;
  return isSubstantial ? [...tokens, solAmount(sol)] : tokens;
}
