import { toJson } from '../../domain/to-json.ts';
import type { BlockListing } from '../../routing/block-listings.ts';
import type { EnhancedRecord, TransferQuery } from '../../routing/transaction-decoder.ts';
import { knownMintSymbol } from '../../solana/accounts/known-mints.ts';
import { type TransferRow, transferRowsOf } from '../../solana/analysis/transfer-row.ts';
import { enhanceTransaction } from '../../solana/explain/enhanced-transaction.ts';
import { readTransaction } from '../../solana/transactions/transaction.ts';
import { listBlock } from '../block/list-block.ts';
import { explainBody } from './explain-body.ts';

/** What is decoded, in this thread or in another one. A thread gets plain bytes where it was sent a Buffer. */
export const decodingTasks = {
  explain: (body: Uint8Array): string => explainBody(asBuffer(body)),

  enhance(record: Uint8Array): EnhancedRecord {
    const defects: unknown[] = [];
    const transaction = readTransaction(asBuffer(record).toString());
    const enhanced = enhanceTransaction(transaction, (defect) => defects.push(defect));
    return { json: toJson(enhanced), defects };
  },

  findTransfers: (record: Uint8Array, { address, confirmationStatus }: TransferQuery): TransferRow[] =>
    transferRowsOf(address, readTransaction(asBuffer(record).toString()), {
      confirmationStatus,
      symbolOf: knownMintSymbol,
    }),

  listBlock: (block: Uint8Array): BlockListing => listBlock(asBuffer(block)),
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
