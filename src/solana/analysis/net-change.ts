import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Facts } from './facts.ts';
import { holdingsOf, openedAccounts, type Quantity, tokenAccountOwners } from './holdings.ts';

/** What the fee payer has more, and less, than before; both positive, the fee and deposits aside. */
export function netChange(facts: Facts): { readonly gained: readonly Quantity[]; readonly lost: readonly Quantity[] } {
  const { sol, tokens } = holdingsOf(facts.feePayer, facts, tokenAccountOwners(facts), openedAccounts(facts));
  const all = [{ mint: WRAPPED_SOL, amount: sol, decimals: 9 }, ...tokens];
  return {
    gained: all.filter(({ amount }) => amount > 0n),
    lost: all.filter(({ amount }) => amount < 0n).map((loss) => ({ ...loss, amount: -loss.amount })),
  };
}
