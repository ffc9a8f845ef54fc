import { seededRng } from '../../../src/localnet/traffic/seeded-rng.ts';
import {
  type EnhancedTransaction,
  enhanceTransaction,
} from '../../../src/transactions/explain/enhanced-transaction.ts';
import { explainTransaction } from '../../../src/transactions/explain/explain-transaction.ts';
import type { Transaction } from '../../../src/transactions/records/transaction.ts';

/** Draws transactions by a seed, so that a person can compare what is shown with the balances. */
export function drawSample(transactions: readonly Transaction[], count: number, seed: number): readonly string[] {
  const rest = transactions.map((transaction) => enhanceTransaction(transaction));
  const { intBelow } = seededRng(seed);
  const random = (): number => intBelow(2 ** 32) / 2 ** 32;
  const drawn: EnhancedTransaction[] = [];
  while (drawn.length < count && rest.length > 0) drawn.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return drawn.map(textOf);
}

/** Describes transactions in words beside their balances, each once. */
export function describeAll(transactions: readonly Transaction[]): readonly string[] {
  return [...new Set(transactions.map((transaction) => textOf(enhanceTransaction(transaction))))];
}

/** Writes a transaction's type and explanation above its raw changes of balances. */
function textOf(view: EnhancedTransaction): string {
  const changes = view.accountData.flatMap(({ account, nativeBalanceChange, tokenBalanceChanges }) => [
    ...(nativeBalanceChange === '0' ? [] : [`  ${account} ${nativeBalanceChange} lamports`]),
    ...tokenBalanceChanges.map(
      ({ userAccount, mint, rawTokenAmount: { tokenAmount, decimals } }) =>
        `  ${account} of ${userAccount} ${tokenAmount}e-${decimals} ${mint}`,
    ),
  ]);
  const calls = view.instructions.map(({ programId, programName, type, innerInstructions }) => {
    const inner = [...new Set(innerInstructions.map((call) => call.programName ?? call.programId))];
    return `  ${programName ?? programId}${type === null ? '' : ` ${type}`}${inner.length === 0 ? '' : ` [${inner.join(', ')}]`}`;
  });
  return [`${view.signature} ${view.status} ${view.type}`, explainTransaction(view), ...calls, ...changes].join('\n');
}
