import type { TaskOwner } from '../../../shared/runtime/thread-pool.ts';
import type { DescribedNetRow, IdlAccount, IdlNames, TokenLabel, TransferRow } from '../../../transactions/index.ts';
import type { BlockListing } from './block-listings.ts';

/** Decodes transactions. What may take long is decoded in a thread, for which callers take turns. */
export interface TransactionDecoder {
  /** Explains the transaction in a body of `/explain`. Throws the errors of its route, or `overloaded`. */
  explain(body: Buffer, owner: TaskOwner): Promise<string>;
  /** Makes the enhanced view of a record, which is the JSON of `getTransaction`. Throws `invalid_query` for no party's view. */
  enhance(record: Buffer, names: SentenceNames, owner: TaskOwner): Promise<EnhancedRecord>;
  /** Reads the names of instructions in the first of these accounts that holds an IDL. */
  readIdl(accounts: readonly IdlAccount[], owner: TaskOwner): Promise<ReadonlyMap<string, string>>;
  /** Finds what a record changed for an address, and the transfers in it from or to that address. */
  findTransfers(record: Buffer, query: TransferQuery, owner: TaskOwner): Promise<AddressTransfers>;
  /** Lists the transactions of a block, which is the JSON of `getBlock`. */
  listBlock(block: Buffer, owner: TaskOwner): Promise<BlockListing>;
}

/** What a description needs beside the record: names that are looked up, and the wallet from whose view it is, too. */
export interface SentenceNames {
  /** Labels of tokens by mint. */
  readonly labels?: ReadonlyMap<string, TokenLabel>;
  readonly idlNames?: IdlNames;
  readonly perspective?: string;
}

export interface EnhancedRecord {
  readonly json: string;
  /** The mints that the description names by their addresses: some of them at most. */
  readonly unlabelledMints: readonly string[];
  /** The program of which the description says no more than that it was called; null if it says more. */
  readonly unnamedProgram: string | null;
  /** The errors that left the transaction UNKNOWN. */
  readonly defects: readonly unknown[];
}

export interface AddressTransfers {
  /** The net row, then one for each transfer. */
  readonly rows: readonly (DescribedNetRow | TransferRow)[];
  readonly defects: readonly unknown[];
}

export interface TransferQuery {
  readonly address: string;
  readonly confirmationStatus: TransferRow['confirmationStatus'];
}
