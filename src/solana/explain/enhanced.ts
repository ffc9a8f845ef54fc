import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { classify, type TransactionKind } from '../analysis/classify.ts';
import type { Swap } from '../analysis/exchange.ts';
import type { Facts, TokenBalanceChange } from '../analysis/facts.ts';
import { factsOf } from '../analysis/facts-of.ts';
import type { Quantity } from '../analysis/holdings.ts';
import { sourceOf } from '../analysis/main-program.ts';
import { findSwap } from '../analysis/swap.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { describe } from './describe.ts';
import { inFull } from './wording.ts';

/** What a wallet gave or got in a swap; `tokenAccount` is null where several accounts of the wallet took part. */
type SwapToken = Omit<TokenBalanceChange, 'tokenAccount'> & { readonly tokenAccount: string | null };

/** The legs of a swap as the wallet saw them: SOL in either form is native. */
interface SwapEvent {
  readonly tokenInputs: readonly SwapToken[];
  readonly tokenOutputs: readonly SwapToken[];
  readonly nativeInput: { readonly account: string; readonly amount: string } | null;
  readonly nativeOutput: { readonly account: string; readonly amount: string } | null;
}

/** A transaction with its meaning: `enhanced` of `/tx`. Helius' names, exact amounts. */
export interface Enhanced extends Facts {
  /** One sentence, addresses in full. */
  readonly description: string;
  readonly type: TransactionKind;
  /** Helius' name of the program that the transaction is about, or the program's id. */
  readonly source: string;
  readonly events: { readonly swap?: SwapEvent };
}

/**
 * Tells what a transaction did, from balances first: a program never seen before is told as well as a known one.
 * `onDefect` hears why one was left UNKNOWN that could not be judged.
 */
export function enhance(transaction: Transaction, onDefect: (defect: unknown) => void = () => {}): Enhanced {
  const facts = factsOf(transaction);
  const { type, description, events } = judge(facts, onDefect);
  return { description, type, source: sourceOf(facts), ...facts, events };
}

/** What can't be judged is UNKNOWN: the facts are worth as much without a judgement, so they never fail with it. */
function judge(facts: Facts, onDefect: (defect: unknown) => void): Pick<Enhanced, 'type' | 'description' | 'events'> {
  try {
    const swap = findSwap(facts);
    const type = classify(facts, swap);
    const description = facts.transactionError?.message ?? describe(facts, type, inFull);
    const trader = type === 'SWAP' && swap !== null ? swap.wallet : null;
    const events = trader !== null && swap !== null ? { swap: swapEvent(trader, swap, facts) } : {};
    return { type, description, events };
  } catch (defect) {
    onDefect(defect);
    return { type: 'UNKNOWN', description: describe(facts, 'UNKNOWN', inFull), events: {} };
  }
}

function swapEvent(wallet: string, { given, got }: Swap, facts: Facts): SwapEvent {
  const changes = facts.accountData.flatMap((account) => account.tokenBalanceChanges);
  const tokens = (legs: readonly Quantity[]): SwapToken[] =>
    legs
      .filter(({ mint }) => mint !== WRAPPED_SOL)
      .map(({ mint, amount, decimals }) => {
        const accounts = changes.filter((change) => change.userAccount === wallet && change.mint === mint);
        const tokenAccount = accounts.length === 1 ? (accounts[0]?.tokenAccount ?? null) : null;
        return { userAccount: wallet, tokenAccount, mint, rawTokenAmount: { tokenAmount: `${amount}`, decimals } };
      });
  const native = (legs: readonly Quantity[]): SwapEvent['nativeInput'] => {
    const sol = legs.find(({ mint }) => mint === WRAPPED_SOL);
    return sol === undefined ? null : { account: wallet, amount: `${sol.amount}` };
  };
  return {
    tokenInputs: tokens(given),
    tokenOutputs: tokens(got),
    nativeInput: native(given),
    nativeOutput: native(got),
  };
}
