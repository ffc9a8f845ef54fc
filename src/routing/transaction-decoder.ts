import type { TokenLabel } from '../solana/accounts/token-label.ts';
import type { NetRow } from '../solana/analysis/net-row.ts';
import type { TransferRow } from '../solana/analysis/transfer-row.ts';
import type { BlockListing } from './block-listings.ts';

/** Decodes transactions. What may take long is decoded in a thread, for which callers take turns. */
export interface TransactionDecoder {
  /** Explains the transaction in a body of `/explain`. Throws `invalid_json`, `invalid_request` or `overloaded`. */
  explain(body: Buffer, requester?: Requester): Promise<string>;
  /** Makes the enhanced view of a record, which is the JSON of `getTransaction`; `labels` are those of tokens by mint. */
  enhance(record: Buffer, labels?: ReadonlyMap<string, TokenLabel>, requester?: Requester): Promise<EnhancedRecord>;
  /** Tells what a record changed for an address, and the transfers in it that the address takes part in. */
  findTransfers(record: Buffer, query: TransferQuery, requester?: Requester): Promise<AddressTransfers>;
  /** Lists the transactions of a block, which is the JSON of `getBlock`. */
  listBlock(block: Buffer, requester?: Requester): Promise<BlockListing>;
}

/** Who waits for a decoded transaction; nobody for work of the gateway itself. */
export interface Requester {
  /** Key of the rate limit. */
  readonly caller: string;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

export interface EnhancedRecord {
  /** The view as JSON. */
  readonly json: string;
  /** The mints that the description names by their addresses: some of them at most. */
  readonly unlabelledMints: readonly string[];
  /** The errors that left the transaction UNKNOWN. */
  readonly defects: readonly unknown[];
}

/** What a transaction did for one address. */
export interface AddressTransfers {
  /** The net row, then one for each transfer. */
  readonly rows: readonly (NetRow | TransferRow)[];
  /** The errors that left transfers out. */
  readonly defects: readonly unknown[];
}

export interface TransferQuery {
  readonly address: string;
  readonly confirmationStatus: TransferRow['confirmationStatus'];
}
