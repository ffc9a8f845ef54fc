import type { Slot } from '../../domain/slot.ts';
import type { InnerInstruction } from './svm.ts';
import type { TransactionError } from './svm-transaction-error.ts';
import type { TokenBalance } from './token-balances.ts';
import type { WireTransaction } from './wire-transaction.ts';

/** A slot that was not skipped. */
export interface Block {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly hash: string;
  readonly parentHash: string;
  readonly height: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly transactions: readonly LandedTransaction[];
  /** Transactions on this chain up to and with this block. */
  readonly transactionCount: number;
  /** Every account that differs from the parent block, the sysvars of the bank among them. */
  readonly changedAccounts: ReadonlySet<string>;
}

/** A transaction in a block, whether it succeeded or only paid. Lists by account follow `keys`. */
export interface LandedTransaction {
  readonly slot: Slot;
  /** Its place in the block. */
  readonly index: number;
  /** Unix seconds of the block. */
  readonly blockTime: number;
  readonly signature: string;
  readonly transaction: WireTransaction;
  /** The static keys, then those loaded to be written, then those loaded to be read. */
  readonly accountKeys: readonly string[];
  readonly writable: readonly boolean[];
  readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly error: TransactionError | null;
  readonly fee: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly logs: readonly string[];
  readonly computeUnits: bigint;
  /** What each outer instruction called, empty where it called nothing. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly program: string; readonly data: Uint8Array } | undefined;
}
