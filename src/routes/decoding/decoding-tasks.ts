import { toJson } from '../../domain/to-json.ts';
import type { BlockListing } from '../../routing/block-listings.ts';
import type { AddressTransfers, EnhancedRecord, TransferQuery } from '../../routing/transaction-decoder.ts';
import { knownMintSymbol } from '../../solana/accounts/known-mints.ts';
import type { TokenLabel } from '../../solana/accounts/token-label.ts';
import { netRowOf } from '../../solana/analysis/net-row.ts';
import { transferRowsOf } from '../../solana/analysis/transfer-row.ts';
import { enhanceTransaction } from '../../solana/explain/enhanced-transaction.ts';
import { readTransaction } from '../../solana/transactions/transaction.ts';
import { listBlock } from '../block/list-block.ts';
import { explainBody } from './explain-body.ts';

/** The most tokens of one transaction whose names are looked up: as many as a description names. */
const MAX_LABELLED_MINTS = 8;

/** What is decoded, in this thread or in another one. A thread gets plain bytes where it was sent a Buffer. */
export const decodingTasks = {
  explain: (body: Uint8Array): string => explainBody(asBuffer(body)),

  enhance(record: Uint8Array, labels: ReadonlyMap<string, TokenLabel>): EnhancedRecord {
    const defects: unknown[] = [];
    const unlabelled = new Set<string>();
    const enhanced = enhanceTransaction(readTransaction(asBuffer(record).toString()), {
      labels,
      onUnlabelled: (mint) => unlabelled.size < MAX_LABELLED_MINTS && unlabelled.add(mint),
      onError: (defect) => defects.push(defect),
    });
    return { json: toJson(enhanced), unlabelledMints: [...unlabelled], defects };
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
