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
export function balanceChanges(transaction: Transaction): BalanceChange[] {
  const { accounts, preBalances, postBalances } = transaction;
  const tokens = tokenChanges(transaction);
  return accounts.map(({ address }, place) => ({
    account: address,
    lamports: (postBalances[place] ?? 0n) - (preBalances[place] ?? 0n),
    tokens: (tokens.get(address) ?? []).filter(({ amount }) => amount !== 0n),
  }));
}

/** By account. One account may end under another mint than it began with. */
function tokenChanges({ preTokenBalances, postTokenBalances }: Transaction): Map<string, TokenChange[]> {
  const signed = [
    ...(preTokenBalances ?? []).map((balance) => ({ ...balance, amount: -balance.amount })),
    ...(postTokenBalances ?? []),
  ];
  const changes = new Map<string, TokenChange[]>();
  for (const { account, mint, owner, amount, decimals } of signed) {
    const known = changes.get(account) ?? [];
    const before = known.find((change) => change.mint === mint);
    const change = { mint, owner: owner ?? before?.owner ?? null, amount: amount + (before?.amount ?? 0n), decimals };
    changes.set(account, [...known.filter((other) => other !== before), change]);
  }
  return changes;
}
