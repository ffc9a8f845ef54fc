import { allInstructions } from '../analysis/parsed-transaction.ts';
import { MAX_ACCOUNTS, MAX_INSTRUCTIONS, MAX_SIGNERS } from '../transactions/transaction-bounds.ts';
import type { EnhancedTransaction } from './enhanced-transaction.ts';

/** Most token balances of one account that a transaction can change: it may be closed and opened under another mint. */
const MAX_TOKEN_CHANGES = 2;
/** Longest decimal text of an amount: a sum of u64 values with its sign. */
const MAX_AMOUNT_LENGTH = 40;

/**
 * Finds the bound that an enhanced transaction from a caller exceeds, as {@link findExceededBound} does for a record.
 * Returns the reason for the caller; undefined if it could be a transaction's.
 */
export function findExceededEnhancedBound(enhanced: EnhancedTransaction): string | undefined {
  const { signers, accountData, nativeTransfers, tokenTransfers } = enhanced;
  const transfers = [...nativeTransfers, ...tokenTransfers];
  const tokenChanges = accountData.map(({ tokenBalanceChanges }) => tokenBalanceChanges);
  if (signers.length > MAX_SIGNERS) return `a transaction has at most ${MAX_SIGNERS} signers`;
  if (accountData.length > MAX_ACCOUNTS) return `a transaction has at most ${MAX_ACCOUNTS} accounts`;
  if (tokenChanges.some(({ length }) => length > MAX_TOKEN_CHANGES))
    return `an account has at most ${MAX_TOKEN_CHANGES} token balance changes`;
  if (allInstructions(enhanced).length > MAX_INSTRUCTIONS)
    return `a transaction has at most ${MAX_INSTRUCTIONS} instructions`;
  if (transfers.length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} transfers`;
  const amounts = [
    ...transfers.map(({ amount }) => amount),
    ...accountData.map(({ nativeBalanceChange }) => nativeBalanceChange),
    ...tokenChanges.flat().map(({ rawTokenAmount }) => rawTokenAmount.tokenAmount),
  ];
  return amounts.every(({ length }) => length <= MAX_AMOUNT_LENGTH)
    ? undefined
    : `an amount has at most ${MAX_AMOUNT_LENGTH} digits`;
}
