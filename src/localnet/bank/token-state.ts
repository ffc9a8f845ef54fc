import { ownText } from '../../shared/runtime/own-text.ts';
import {
  type AmountScale,
  amountScaleOf as amountScaleOfMint,
  decodeTokenProgramAccount,
  type Mint,
  type TokenAccount,
  tokenProgramOf,
} from '../../transactions/index.ts';
import type { Account } from './svm-account.ts';

/** Returns whether an account belongs to one of the two token programs. */
export const isOwnedByTokenProgram = ({ owner }: Pick<Account, 'owner'>): boolean =>
  tokenProgramOf(owner) !== undefined;

export function readMint(account: Account): Mint | undefined {
  const token = decodeTokenProgramAccount(account);
  return token?.type === 'mint' && token.isInitialized ? token : undefined;
}

export function readTokenAccount(account: Account | undefined): TokenAccount | undefined {
  const token = account && decodeTokenProgramAccount(account);
  return token?.type === 'account' && token.state !== 'uninitialized' ? token : undefined;
}

/** Returns how amounts of a mint are displayed at a bank's time; undefined when the account is not a mint. */
export function amountScaleOf(account: Account, unixSeconds: number): AmountScale | undefined {
  const mint = readMint(account);
  return mint && amountScaleOfMint(mint, BigInt(unixSeconds));
}

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
    const tokenAccount = readTokenAccount(account);
    if (account === undefined || tokenAccount === undefined) return [];
    const { mint: address, owner, amount } = tokenAccount;
    const mint = mintOf(address);
    const decimals = mint && readMint(mint)?.decimals;
    if (decimals === undefined) return [];
    return [{ accountIndex, mint: ownText(address), owner: ownText(owner), program: account.owner, amount, decimals }];
  });
}
