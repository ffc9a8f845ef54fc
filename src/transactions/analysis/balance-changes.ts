import type { Transaction } from '../transactions/transaction.ts';
import type { AccountData, TokenBalanceChange } from './parsed-transaction.ts';

/** Returns the changes of every account that are recorded, in the transaction's order. Zero token changes are left out. */
export function accountDataOf(transaction: Transaction): AccountData[] {
  const { accounts, preBalances, postBalances } = transaction;
  const tokens = tokenChangesByAccount(transaction);
  return accounts.flatMap(({ address: account }, index): AccountData[] => {
    const [before, after] = [preBalances[index], postBalances[index]];
    const isRecorded = before !== undefined && after !== undefined;
    const tokenBalanceChanges = [...(tokens.get(account)?.values() ?? [])].filter(
      ({ rawTokenAmount }) => rawTokenAmount.tokenAmount !== '0',
    );
    const nativeBalanceChange = `${isRecorded ? after - before : 0}`;
    return isRecorded || tokenBalanceChanges.length > 0 ? [{ account, nativeBalanceChange, tokenBalanceChanges }] : [];
  });
}

/** Groups token changes by account, mint and owner. An account may end under another mint or owner than before. */
function tokenChangesByAccount({
  preTokenBalances: before,
  postTokenBalances: after,
}: Transaction): ReadonlyMap<string, ReadonlyMap<string, TokenBalanceChange>> {
  const changes = new Map<string, Map<string, TokenBalanceChange>>();
  for (const [balances, others, sign] of [
    [before, after, -1n],
    [after, before, 1n],
  ] as const) {
    const owners = new Map(others?.map(({ account, owner }) => [account, owner]));
    for (const { account: tokenAccount, mint, owner, amount, decimals } of balances ?? []) {
      const userAccount = owner ?? owners.get(tokenAccount) ?? tokenAccount;
      const ofAccount = changes.get(tokenAccount) ?? new Map<string, TokenBalanceChange>();
      const key = `${mint} ${userAccount}`;
      const changed = BigInt(ofAccount.get(key)?.rawTokenAmount.tokenAmount ?? 0) + sign * amount;
      ofAccount.delete(key); // the order is that of the last record of each mint
      ofAccount.set(key, { userAccount, tokenAccount, mint, rawTokenAmount: { tokenAmount: `${changed}`, decimals } });
      changes.set(tokenAccount, ofAccount);
    }
  }
  return changes;
}
