import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { asBigInt } from '../codec/json-fields.ts';
import { inExecutionOrder } from '../records/instruction.ts';
import type { TokenBalance } from '../records/token-balance.ts';
import type { Transaction } from '../records/transaction.ts';

const TOKEN_ACCOUNT_BYTES = 165n;

/** The lamports that an account of a number of bytes needs on mainnet. https://solana.com/docs/core/accounts#rent */
export const rentOf = (bytes: bigint): bigint => (128n + bytes) * 6_960n;
const TOKEN_ACCOUNT_RENT_LAMPORTS: bigint = rentOf(TOKEN_ACCOUNT_BYTES);

/**
 * Returns a function for the rent in a wrapped SOL account, in lamports: by its own balances; else by the
 * associated-token program's payment for an account in this transaction; else by the lowest rent of the other wrapped
 * SOL accounts (clusters differ in rent); else mainnet's.
 */
export function wrappedSolRent(transaction: Transaction): (account: string) => bigint {
  const { accounts, preBalances, preTokenBalances, postBalances, postTokenBalances } = transaction;
  const indexByAddress = new Map(accounts.map(({ address }, index) => [address, index]));
  const rentByAccount = new Map<string, bigint>();
  const addBalances = (balances: readonly TokenBalance[] | null, lamports: readonly bigint[]): void => {
    for (const { account, mint, amount } of balances ?? []) {
      const accountLamports = lamports[indexByAddress.get(account) ?? -1];
      // always so in an honest record
      if (isWrappedSol(mint) && accountLamports !== undefined && accountLamports > amount)
        rentByAccount.set(account, accountLamports - amount);
    }
  };
  addBalances(preTokenBalances, preBalances);
  addBalances(postTokenBalances, postBalances);
  const defaultRent =
    rentPaidByProgram(transaction) ??
    [...rentByAccount.values()].reduce((a, b) => (b < a ? b : a), TOKEN_ACCOUNT_RENT_LAMPORTS);
  return (account) => rentByAccount.get(account) ?? defaultRent;
}

/** Returns a program's payment for an account of this size: programs pay the rent and no more, people may pay more. */
function rentPaidByProgram({ instructions }: Transaction): bigint | null {
  for (const { innerIndex, parsed } of inExecutionOrder(instructions)) {
    if (innerIndex === null || parsed?.type !== 'createAccount') continue;
    const { lamports, space } = parsed.info;
    if (asBigInt(space) === TOKEN_ACCOUNT_BYTES) return asBigInt(lamports);
  }
  return null;
}
