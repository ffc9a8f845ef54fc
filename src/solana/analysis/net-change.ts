import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { type AssetAmount, sumWalletChanges } from './wallet-changes.ts';

/** Returns the fee payer's gains and losses, both positive, without the fee and deposits. */
export function feePayerNetChange(parsed: ParsedTransaction): {
  readonly gained: readonly AssetAmount[];
  readonly lost: readonly AssetAmount[];
} {
  const { sol, tokens } = sumWalletChanges(parsed)(parsed.feePayer);
  const all = [{ mint: WRAPPED_SOL, amount: sol, decimals: 9 }, ...tokens];
  return {
    gained: all.filter(({ amount }) => amount > 0n),
    lost: all.filter(({ amount }) => amount < 0n).map((loss) => ({ ...loss, amount: -loss.amount })),
  };
}
