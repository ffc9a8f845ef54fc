import type { Transaction } from '../transactions/transaction.ts';

/** How an account's balances differ before and after a transaction. Zero changes of tokens are left out. */
export interface BalanceChange {
  readonly account: string;
  /** Lamports; for the fee payer the fee is in it. */
  readonly lamports: bigint;
  readonly tokens: readonly TokenChange[];
}

export interface TokenChange {
  readonly mint: string;
  /** The later one where it changed; null where the record does not tell it. */
  readonly owner: string | null;
  readonly amount: bigint;
  readonly decimals: number;
}

/** The changes of every account, in the transaction's order. What is not recorded did not change. */
export function balanceChangesOf(transaction: Transaction): BalanceChange[] {
  const { accounts, preBalances, postBalances } = transaction;
  const tokens = tokenChangesByAccount(transaction);
  return accounts.map(({ address }, index) => ({
    account: address,
    lamports: (postBalances[index] ?? 0n) - (preBalances[index] ?? 0n),
    tokens: (tokens.get(address) ?? []).filter(({ amount }) => amount !== 0n),
  }));
}

/** By account. One account may end under another mint than it began with. */
function tokenChangesByAccount({ preTokenBalances, postTokenBalances }: Transaction): Map<string, TokenChange[]> {
  const signed = [
    ...(preTokenBalances ?? []).map((balance) => ({ ...balance, amount: -balance.amount })),
    ...(postTokenBalances ?? []),
  ];
  const changes = new Map<string, TokenChange[]>();
  for (const { account, mint, owner, amount, decimals } of signed) {
    const accountChanges = changes.get(account) ?? [];
    const before = accountChanges.find((change) => change.mint === mint);
    const change = { mint, owner: owner ?? before?.owner ?? null, amount: amount + (before?.amount ?? 0n), decimals };
    changes.set(account, [...accountChanges.filter((other) => other !== before), change]);
  }
  return changes;
}
