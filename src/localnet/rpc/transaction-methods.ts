import { isUtf8 } from 'node:buffer';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { MEMO_PROGRAM, MEMO_V1_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { Chain } from '../bank/chain.ts';
import type { LandedTransaction } from '../bank/produced-block.ts';
import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { encodeUiTransaction } from '../encode/ui-transaction.ts';
import { readBankView } from './bank-view.ts';
import {
  readAddress,
  readBlockCommitment,
  readConfig,
  readList,
  readOptional,
  readSignature,
  readU64,
} from './json-rpc-params.ts';
import { type MethodHandlers, method } from './method-handler.ts';
import { readBlockConfig, readTransactionView } from './transaction-view.ts';

const MAX_PAGE = 1000;
const MAX_STATUSES = 256;

export const TRANSACTION_METHODS: MethodHandlers = {
  getTransaction: method(1, 1, ({ chain }, [id, options]) => {
    const wanted = readSignature(id);
    const config = readBlockConfig(options);
    const landed = findTransaction(chain, wanted, readBlockCommitment(config));
    if (landed === undefined) return null;
    const { slot, blockTime, index: transactionIndex } = landed;
    return { slot, blockTime, transactionIndex, ...encodeUiTransaction(landed, readTransactionView(config)) };
  }),

  getSignaturesForAddress: method(1, 1, (node, [key, options]) => {
    const { chain } = node;
    const wanted = readAddress(key);
    const { before, until, limit, ...rest } = readConfig(options);
    const commitment = readBlockCommitment(rest);
    const newest = readOptional(before, readSignature);
    const oldest = readOptional(until, readSignature);
    const maxCount = readOptional(limit, readU64) ?? MAX_PAGE;
    if (maxCount < 1 || maxCount > MAX_PAGE) throw invalidParams(`Invalid limit; max ${MAX_PAGE}`);
    readBankView(node, rest); // for its minContextSlot
    const above = readPosition(chain, newest, commitment) ?? Number.POSITIVE_INFINITY;
    const below = readPosition(chain, oldest, commitment) ?? -1;
    return chain
      .transactionsOf(wanted)
      .filter(
        (landed) => landed.slot <= chain.slot(commitment) && positionOf(landed) < above && positionOf(landed) > below,
      )
      .slice(-maxCount)
      .reverse()
      .map((landed) => encodeSignatureInfo(chain, landed));
  }),

  getSignatureStatuses: method(1, 1, (node, [ids]) => {
    const wanted = readList(ids, MAX_STATUSES).map(readSignature);
    const bank = readBankView(node, { commitment: 'processed' });
    return bank.withContext(wanted.map((id) => encodeStatus(node.chain, findTransaction(node.chain, id, 'processed'))));
  }),
};

/** Finds a transaction whose block has reached the commitment. */
function findTransaction(chain: Chain, id: string, commitment: Commitment): LandedTransaction | undefined {
  const landed = chain.transaction(id);
  return landed !== undefined && landed.slot <= chain.slot(commitment) ? landed : undefined;
}

const MAX_BLOCK_TRANSACTIONS = 100_000;

const positionOf = ({ slot, index }: LandedTransaction): number => slot * MAX_BLOCK_TRANSACTIONS + index;

function readPosition(chain: Chain, id: string | undefined, commitment: Commitment): number | undefined {
  if (id === undefined) return undefined;
  const landed = findTransaction(chain, id, commitment);
  if (landed === undefined) throw new JsonRpcError(-32020, `Transaction ${id} not found`);
  return positionOf(landed);
}

const encodeSignatureInfo = (chain: Chain, landed: LandedTransaction): object => ({
  signature: landed.signature,
  slot: landed.slot,
  err: landed.error,
  memo: memoOf(landed),
  blockTime: landed.blockTime,
  confirmationStatus: confirmationStatusOf(chain, landed),
  transactionIndex: landed.index,
});

function confirmationStatusOf(chain: Chain, { slot }: LandedTransaction): Commitment {
  if (slot <= chain.slot('finalized')) return 'finalized';
  return slot <= chain.slot('confirmed') ? 'confirmed' : 'processed';
}

const MEMO_PROGRAMS: readonly unknown[] = [MEMO_PROGRAM, MEMO_V1_PROGRAM];

/** Returns the memos of a transaction as one text, each with its length in bytes (agave, `extract_memos.rs`); null if it has none. */
function memoOf({ transaction, accountKeys }: LandedTransaction): string | null {
  const memos = transaction.message.instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(accountKeys[programIdIndex]))
    .map(({ data }) => `[${data.length}] ${isUtf8(data) ? Buffer.from(data).toString('utf8') : '(unparsable)'}`);
  return memos.length === 0 ? null : memos.join('; ');
}

function encodeStatus(chain: Chain, landed: LandedTransaction | undefined): object | null {
  if (landed === undefined) return null;
  const status = confirmationStatusOf(chain, landed);
  const depth = (chain.newestBlock('processed')?.height ?? 0) - (chain.block(landed.slot)?.height ?? 0);
  return {
    slot: landed.slot,
    confirmations: status === 'finalized' ? null : depth,
    status: landed.error === null ? { Ok: null } : { Err: landed.error },
    err: landed.error,
    confirmationStatus: status,
  };
}
