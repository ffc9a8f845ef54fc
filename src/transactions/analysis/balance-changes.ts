import type { Transaction } from '../transactions/transaction.ts';

/** The difference of an account's balances before and after a transaction. Zero token changes are left out. */
export interface BalanceChange {
  readonly account: string;
  /** The change in lamports; the fee payer's includes the fee. */
  readonly lamports: bigint;
  readonly tokens: readonly TokenChange[];
}

export interface TokenChange {
  readonly mint: string;
  /** The owner, after the transaction if it changed; null if not recorded. */
  readonly owner: string | null;
  readonly amount: bigint;
  readonly decimals: number;
}

/** Returns the changes of every account, in the transaction's order. A missing record counts as no change. */
export function balanceChangesOf(transaction: Transaction): BalanceChange[] {
  const { accounts, preBalances, postBalances } = transaction;
  const tokens = tokenChangesByAccount(transaction);
  return accounts.map(({ address }, index) => ({
    account: address,
    lamports: (postBalances[index] ?? 0n) - (preBalances[index] ?? 0n),
    tokens: [...(tokens.get(address)?.values() ?? [])].filter(({ amount }) => amount !== 0n),
  }));
}

/** Groups token changes by account and mint. An account may end under another mint than before. */
function tokenChangesByAccount({
  preTokenBalances,
  postTokenBalances,
}: Transaction): Map<string, Map<string, TokenChange>> {
  const signed = [
    ...(preTokenBalances ?? []).map((balance) => ({ ...balance, amount: -balance.amount })),
    ...(postTokenBalances ?? []),
  ];
  const changes = new Map<string, Map<string, TokenChange>>();
  for (const { account, mint, owner, amount, decimals } of signed) {
    const byMint = changes.get(account) ?? new Map<string, TokenChange>();
    const before = byMint.get(mint);
    byMint.delete(mint); // the order is that of the last record of each mint
    byMint.set(mint, {
      mint,
      owner: owner ?? before?.owner ?? null,
      amount: amount + (before?.amount ?? 0n),
      decimals,
    });
    changes.set(account, byMint);
  }
  return changes;
}
