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

export function readTokenAccount(account: Account): TokenAccount | undefined {
  const token = decodeTokenProgramAccount(account);
  return token?.type === 'account' && token.state !== 'uninitialized' ? token : undefined;
}

/** Returns how amounts of a mint are displayed at a bank's time; undefined when the account is not a mint. */
export function amountScaleOf(account: Account, unixSeconds: number): AmountScale | undefined {
  const mint = readMint(account);
  return mint && amountScaleOfMint(mint, BigInt(unixSeconds));
}
