import { knownMintSymbol } from '../../../shared/domain/known-mints.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import {
  describeFor,
  enhanceTransaction,
  type IdlAccount,
  netRowOf,
  readIdlNames,
  readTransaction,
  transferRowsOf,
} from '../../../transactions/index.ts';
import { listBlock } from '../block/list-block.ts';
import type { BlockListing } from '../routing/block-listings.ts';
import type { AddressTransfers, EnhancedRecord, SentenceNames, TransferQuery } from '../routing/transaction-decoder.ts';
import { explainBody, notAParty } from './explain-body.ts';

/** The most tokens of one transaction whose names are looked up: a description names no more. */
const MAX_LABELLED_MINTS = 8;

/** What is decoded, in this thread or in another one. A thread gets plain bytes where it was sent a Buffer. */
export const decodingTasks = {
  explain: (body: Uint8Array): string => explainBody(asBuffer(body)),

  enhance(record: Uint8Array, names: SentenceNames): EnhancedRecord {
    const defects: unknown[] = [];
    const unlabelled = new Set<string>();
    let unnamedProgram: string | null = null;
    const enhanced = enhanceTransaction(readTransaction(asBuffer(record).toString()), {
      ...names,
      onUnnamed: (program) => {
        unnamedProgram = program;
      },
      onUnlabelled: (mint) => unlabelled.size < MAX_LABELLED_MINTS && unlabelled.add(mint),
      onError: (defect) => defects.push(defect),
    });
    if (names.perspective !== undefined && enhanced.perspective === undefined && defects.length === 0)
      throw notAParty(names.perspective);
    return { json: toJson(enhanced), unlabelledMints: [...unlabelled], unnamedProgram, defects };
  },

  findTransfers(record: Uint8Array, { address, confirmationStatus }: TransferQuery): AddressTransfers {
    const transaction = readTransaction(asBuffer(record).toString());
    const context = { confirmationStatus, symbolOf: knownMintSymbol };
    const net = netRowOf(address, transaction, context);
    try {
      const rows = transferRowsOf(address, transaction, context);
      return { rows: [{ ...net, description: describeFor(address, transaction) }, ...rows], defects: [] };
    } catch (defect) {
      return { rows: [{ ...net, description: null }], defects: [defect] }; // what changed is known all the same
    }
  },

  /** Reads the first account that holds an IDL; no names if none does: anybody may write to them. */
  readIdl(accounts: readonly IdlAccount[]): ReadonlyMap<string, string> {
    for (const account of accounts) {
      try {
        return readIdlNames(account);
      } catch {
        // what the account holds is its author's matter
      }
    }
    return new Map();
  },

  listBlock: (block: Uint8Array): BlockListing => listBlock(asBuffer(block)),
};
