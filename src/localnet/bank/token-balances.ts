import { ownText } from '../../shared/runtime/own-text.ts';
import type { Account } from './svm-account.ts';
import { readMint, readTokenAccount } from './token-state.ts';

/** Balance of a token account before or after a transaction. */
export interface TokenBalance {
  /** Index into the transaction's account keys. */
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly program: string;
  readonly amount: bigint;
  readonly decimals: number;
}

/** Reads the balances of the accounts that are initialized token accounts; `mintOf` finds a mint as it was then. */
export function tokenBalancesOf(
  accounts: readonly (Account | undefined)[],
  mintOf: (address: string) => Account | undefined,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const tokenAccount = account && readTokenAccount(account);
    if (account === undefined || tokenAccount === undefined) return [];
    const { mint: address, owner, amount } = tokenAccount;
    const mint = mintOf(address);
    const decimals = mint && readMint(mint)?.decimals;
    if (decimals === undefined) return [];
    return [{ accountIndex, mint: ownText(address), owner: ownText(owner), program: account.owner, amount, decimals }];
  });
}
