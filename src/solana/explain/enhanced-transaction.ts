import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { classifyTransaction } from '../analysis/classify-transaction.ts';
import { findSwap } from '../analysis/find-swap.ts';
import { sourceOf } from '../analysis/main-program.ts';
import { parseTransaction } from '../analysis/parse-transaction.ts';
import type { ParsedTransaction, TokenBalanceChange } from '../analysis/parsed-transaction.ts';
import type { Swap } from '../analysis/swap-legs.ts';
import type { AssetAmount } from '../analysis/wallet-changes.ts';
import type { TransactionType } from '../programs/transaction-types.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { describeTransaction } from './describe-transaction.ts';
import { fullAddress } from './sentence-formats.ts';

/** A token leg of a swap; `tokenAccount` is null if several accounts of the wallet took part. */
type SwapToken = Omit<TokenBalanceChange, 'tokenAccount'> & { readonly tokenAccount: string | null };

/** The legs of a swap from the wallet's view: SOL in either form is native. */
interface SwapEvent {
  readonly tokenInputs: readonly SwapToken[];
  readonly tokenOutputs: readonly SwapToken[];
  readonly nativeInput: { readonly account: string; readonly amount: string } | null;
  readonly nativeOutput: { readonly account: string; readonly amount: string } | null;
}

/** A transaction with its interpretation: `enhanced` of `/tx`. Helius' names, exact amounts. */
export interface EnhancedTransaction extends ParsedTransaction {
  /** Description in one sentence, with full addresses. */
  readonly description: string;
  readonly type: TransactionType;
  /** Helius' name of the main program, or its id. */
  readonly source: string;
  readonly events: { readonly swap?: SwapEvent };
}

/**
 * Interprets a transaction, by balances first: so unknown programs are described as well as known ones. `onError`
 * receives the error that left a transaction UNKNOWN.
 */
export function enhanceTransaction(
  transaction: Transaction,
  onError: (defect: unknown) => void = () => {},
): EnhancedTransaction {
  const parsed = parseTransaction(transaction);
  const { type, description, events } = interpret(parsed, onError);
  return { description, type, source: sourceOf(parsed), ...parsed, events };
}

/** Infers type, description and events. A transaction that can't be interpreted is UNKNOWN: its facts stay useful. */
function interpret(
  parsed: ParsedTransaction,
  onError: (error: unknown) => void,
): Pick<EnhancedTransaction, 'type' | 'description' | 'events'> {
  try {
    const swap = findSwap(parsed);
    const type = classifyTransaction(parsed, swap);
    const description = parsed.transactionError?.message ?? describeTransaction(parsed, type, fullAddress);
    const trader = type === 'SWAP' && swap !== null ? swap.wallet : null;
    const events = trader !== null && swap !== null ? { swap: toSwapEvent(trader, swap, parsed) } : {};
    return { type, description, events };
  } catch (error) {
    onError(error);
    return { type: 'UNKNOWN', description: describeTransaction(parsed, 'UNKNOWN', fullAddress), events: {} };
  }
}

function toSwapEvent(wallet: string, { inputs, outputs }: Swap, parsed: ParsedTransaction): SwapEvent {
  const changes = parsed.accountData.flatMap((account) => account.tokenBalanceChanges);
  const tokenLegs = (legs: readonly AssetAmount[]): SwapToken[] =>
    legs
      .filter(({ mint }) => mint !== WRAPPED_SOL)
      .map(({ mint, amount, decimals }) => {
        const accounts = changes.filter((change) => change.userAccount === wallet && change.mint === mint);
        const tokenAccount = accounts.length === 1 ? (accounts[0]?.tokenAccount ?? null) : null;
        return { userAccount: wallet, tokenAccount, mint, rawTokenAmount: { tokenAmount: `${amount}`, decimals } };
      });
  const nativeLeg = (legs: readonly AssetAmount[]): SwapEvent['nativeInput'] => {
    const sol = legs.find(({ mint }) => mint === WRAPPED_SOL);
    return sol === undefined ? null : { account: wallet, amount: `${sol.amount}` };
  };
  return {
    tokenInputs: tokenLegs(inputs),
    tokenOutputs: tokenLegs(outputs),
    nativeInput: nativeLeg(inputs),
    nativeOutput: nativeLeg(outputs),
  };
}
