import type { Commitment } from '../../domain/commitment.ts';
import { MEMO_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Landed } from '../bank/block.ts';
import type { Chain } from '../bank/chain.ts';
import { invalidParams, transactionNotFound } from '../encode/node-error.ts';
import { uiTransaction } from '../encode/ui-transaction.ts';
import { bankView } from './bank-view.ts';
import type { Methods } from './method.ts';
import { address, blockCommitment, config, list, optional, signature, u64 } from './params.ts';
import { blockConfig, transactionView } from './transaction-view.ts';

const MAX_PAGE = 1000;
const MAX_STATUSES = 256;

/** Reads of transactions. */
export const TRANSACTION_METHODS: Methods = {
  getTransaction: {
    required: 1,
    optional: 1,
    answer({ chain }, [id, options]) {
      const wanted = signature(id);
      const config = blockConfig(options);
      const commitment = blockCommitment(config);
      const landed = seen(chain, wanted, commitment);
      if (landed === undefined) return null;
      const { slot, time, index } = landed;
      return { slot, blockTime: time, transactionIndex: index, ...uiTransaction(landed, transactionView(config)) };
    },
  },

  getSignaturesForAddress: {
    required: 1,
    optional: 1,
    answer(node, [key, options]) {
      const { chain } = node;
      const wanted = address(key);
      const { before, until, limit, ...rest } = config(options);
      const commitment = blockCommitment(rest);
      const newest = optional(before, signature);
      const oldest = optional(until, signature);
      const most = optional(limit, u64) ?? MAX_PAGE;
      if (most < 1 || most > MAX_PAGE) throw invalidParams(`Invalid limit; max ${MAX_PAGE}`);
      bankView(node, rest); // for its minContextSlot
      const above = position(chain, newest, commitment) ?? Number.POSITIVE_INFINITY;
      const below = position(chain, oldest, commitment) ?? -1;
      return chain
        .transactionsOf(wanted)
        .filter((landed) => landed.slot <= chain.slot(commitment) && place(landed) < above && place(landed) > below)
        .slice(-most)
        .reverse()
        .map((landed) => uiSignature(chain, landed));
    },
  },

  getSignatureStatuses: {
    required: 1,
    optional: 1,
    answer(node, [ids]) {
      const wanted = list(ids, MAX_STATUSES).map(signature);
      const bank = bankView(node, { commitment: 'processed' });
      return bank.withContext(wanted.map((id) => uiStatus(node.chain, seen(node.chain, id, 'processed'))));
    },
  },
};

/** A transaction, once the commitment has come to its block. */
function seen(chain: Chain, id: string, commitment: Commitment): Landed | undefined {
  const landed = chain.transaction(id);
  return landed !== undefined && landed.slot <= chain.slot(commitment) ? landed : undefined;
}

/** No block has as many transactions. */
const BLOCK_ROOM = 100_000;

/** A transaction's place in the whole history. */
const place = ({ slot, index }: Landed): number => slot * BLOCK_ROOM + index;

/** The place of a transaction that bounds a page. Throws when there is no such transaction. */
function position(chain: Chain, id: string | undefined, commitment: Commitment): number | undefined {
  if (id === undefined) return undefined;
  const landed = seen(chain, id, commitment);
  if (landed === undefined) throw transactionNotFound(id);
  return place(landed);
}

const uiSignature = (chain: Chain, landed: Landed): object => ({
  signature: landed.signature,
  slot: landed.slot,
  err: landed.error,
  memo: memoOf(landed),
  blockTime: landed.time,
  confirmationStatus: confirmationStatus(chain, landed),
  transactionIndex: landed.index,
});

function confirmationStatus(chain: Chain, { slot }: Landed): Commitment {
  if (slot <= chain.slot('finalized')) return 'finalized';
  return slot <= chain.slot('confirmed') ? 'confirmed' : 'processed';
}

/** The memos of a transaction in one line, each with its length in bytes; null when there is none. */
function memoOf({ transaction, keys }: Landed): string | null {
  const memos = transaction.message.instructions
    .filter(({ programIndex }) => keys[programIndex] === MEMO_PROGRAM)
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}

function uiStatus(chain: Chain, landed: Landed | undefined): object | null {
  if (landed === undefined) return null;
  const status = confirmationStatus(chain, landed);
  const depth = (chain.head('processed')?.height ?? 0) - (chain.block(landed.slot)?.height ?? 0);
  return {
    slot: landed.slot,
    confirmations: status === 'finalized' ? null : depth,
    status: landed.error === null ? { Ok: null } : { Err: landed.error },
    err: landed.error,
    confirmationStatus: status,
  };
}
