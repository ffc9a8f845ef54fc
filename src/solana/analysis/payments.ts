import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Facts } from './facts.ts';
import { openedAccounts, type Quantity, tokenAccountOwners } from './holdings.ts';

/** Something of value that one wallet gave to another, in whatever account it was held. */
export interface Payment extends Quantity {
  readonly from: string;
  readonly to: string;
}

/** The transfers that a person would call payments: not the deposit of a new account, not SOL that only changed its form. */
export function payments(facts: Facts): readonly Payment[] {
  const owners = tokenAccountOwners(facts);
  const opened = openedAccounts(facts);
  const sol = facts.nativeTransfers
    .filter(({ toUserAccount }) => !opened.has(toUserAccount))
    .filter(
      ({ fromUserAccount, toUserAccount }) =>
        owners.get(fromUserAccount) !== toUserAccount && owners.get(toUserAccount) !== fromUserAccount,
    )
    .map(({ fromUserAccount, toUserAccount, amount }) => ({
      from: fromUserAccount,
      to: toUserAccount,
      mint: WRAPPED_SOL,
      amount: BigInt(amount),
      decimals: 9,
    }));
  const tokens = facts.tokenTransfers.flatMap(
    ({ fromTokenAccount, toTokenAccount, fromUserAccount, toUserAccount, mint, amount, decimals }) => {
      const from = fromUserAccount ?? fromTokenAccount;
      const to = toUserAccount ?? toTokenAccount;
      return fromTokenAccount === null || toTokenAccount === null || from === null || to === null
        ? []
        : [{ from, to, mint, amount: BigInt(amount), decimals }];
    },
  );
  return [...sol, ...tokens];
}

/** What was minted, or burned. */
export function issued(facts: Facts, side: 'minted' | 'burned'): readonly Quantity[] {
  return facts.tokenTransfers
    .filter((transfer) => (side === 'minted' ? transfer.fromTokenAccount : transfer.toTokenAccount) === null)
    .map(({ mint, amount, decimals }) => ({ mint, amount: BigInt(amount), decimals }));
}

/** One quantity per token, in order of appearance. */
export function total(quantities: readonly Quantity[]): readonly Quantity[] {
  const sums = new Map<string, Quantity>();
  for (const { mint, amount, decimals } of quantities)
    sums.set(mint, { mint, amount: amount + (sums.get(mint)?.amount ?? 0n), decimals });
  return [...sums.values()];
}

/** One of something that can not be divided: a collectible, as far as a transaction tells. */
export const isCollectible = ({ amount, decimals }: Pick<Quantity, 'amount' | 'decimals'>): boolean =>
  decimals === 0 && amount === 1n;
