import type { Slot } from '../../shared/domain/slot.ts';
import type { ExecutionResult } from './svm.ts';
import type { TokenBalance } from './token-state.ts';
import type { WireTransaction } from './wire-transaction.ts';

/** Block of a slot that was not skipped. */
export interface Block {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly hash: string;
  readonly parentHash: string;
  readonly height: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly transactions: readonly LandedTransaction[];
  /** Transactions on this chain up to and including this block. */
  readonly transactionCount: number;
  /** Accounts that differ from the parent block, the sysvars of the bank included. */
  readonly changedAccounts: ReadonlySet<string>;
}

/** A transaction in a block, whether it succeeded or only paid its fee. Lists by account follow `accountKeys`. */
export interface LandedTransaction extends ExecutionResult {
  readonly slot: Slot;
  readonly index: number;
  /** Unix seconds of the block. */
  readonly blockTime: number;
  readonly signature: string;
  readonly transaction: WireTransaction;
  /** Static keys, then the loaded writable ones, then the loaded read-only ones. */
  readonly accountKeys: readonly string[];
  readonly writable: readonly boolean[];
  readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly fee: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
}
