import type { Slot } from '../../domain/slot.ts';
import type { InnerInstruction } from './svm.ts';
import type { TokenBalance } from './token-balance.ts';
import type { TransactionError } from './transaction-error.ts';
import type { WireTransaction } from './wire-transaction.ts';

/** A slot that was not skipped. */
export interface Block {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly hash: string;
  readonly parentHash: string;
  readonly height: number;
  /** Unix seconds. */
  readonly time: number;
  readonly transactions: readonly Landed[];
  /** Transactions on this chain up to and with this block. */
  readonly transactionCount: number;
  /** Every account that differs from the parent block, the sysvars of the bank among them. */
  readonly changed: ReadonlySet<string>;
}

/** A transaction in a block, whether it succeeded or only paid. Lists by account follow `keys`. */
export interface Landed {
  readonly slot: Slot;
  /** Its place in the block. */
  readonly index: number;
  /** Unix seconds of the block. */
  readonly time: number;
  readonly signature: string;
  readonly transaction: WireTransaction;
  /** The static keys, then those loaded to be written, then those loaded to be read. */
  readonly keys: readonly string[];
  readonly writable: readonly boolean[];
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly error: TransactionError | null;
  readonly fee: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly logs: readonly string[];
  readonly computeUnits: bigint;
  /** What each outer instruction called, empty where it called nothing. */
  readonly inner: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly program: string; readonly data: Uint8Array } | undefined;
}
