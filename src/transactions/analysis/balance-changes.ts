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
  /** The owner; null if not recorded. Where it changed, there is one change for each. */
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

/** Groups token changes by account, mint and owner. An account may end under another mint or owner than before. */
function tokenChangesByAccount({
  preTokenBalances,
  postTokenBalances,
}: Transaction): Map<string, Map<string, TokenChange>> {
  const ownersAfter = new Map(postTokenBalances?.map(({ account, owner }) => [account, owner]));
  const ownersBefore = new Map(preTokenBalances?.map(({ account, owner }) => [account, owner]));
  const signed = [
    ...(preTokenBalances ?? []).map((balance) => ({
      ...balance,
      owner: balance.owner ?? ownersAfter.get(balance.account) ?? null,
      amount: -balance.amount,
    })),
    ...(postTokenBalances ?? []).map((balance) => ({
      ...balance,
      owner: balance.owner ?? ownersBefore.get(balance.account) ?? null,
    })),
  ];
  const changes = new Map<string, Map<string, TokenChange>>();
  for (const { account, mint, owner, amount, decimals } of signed) {
    const ofAccount = changes.get(account) ?? new Map<string, TokenChange>();
    const key = `${mint} ${owner}`;
    const before = ofAccount.get(key);
    ofAccount.delete(key); // the order is that of the last record of each mint
    ofAccount.set(key, { mint, owner, amount: amount + (before?.amount ?? 0n), decimals });
    changes.set(account, ofAccount);
  }
  return changes;
}
