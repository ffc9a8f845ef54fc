import { toJson } from '../../domain/to-json.ts';
import type { BlockListing } from '../../routing/block-listings.ts';
import type { AddressTransfers, EnhancedRecord, TransferQuery } from '../../routing/transaction-decoder.ts';
import { knownMintSymbol } from '../../solana/accounts/known-mints.ts';
import { netRowOf } from '../../solana/analysis/net-row.ts';
import { transferRowsOf } from '../../solana/analysis/transfer-row.ts';
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

  findTransfers(record: Uint8Array, { address, confirmationStatus }: TransferQuery): AddressTransfers {
    const transaction = readTransaction(asBuffer(record).toString());
    const context = { confirmationStatus, symbolOf: knownMintSymbol };
    const net = netRowOf(address, transaction, context);
    try {
      return { rows: [net, ...transferRowsOf(address, transaction, context)], defects: [] };
    } catch (defect) {
      return { rows: [net], defects: [defect] }; // what changed is known all the same
    }
  },

  listBlock: (block: Uint8Array): BlockListing => listBlock(asBuffer(block)),
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
