import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Chain } from '../bank/chain.ts';
import type { Block } from '../bank/produced-block.ts';
import { signatureFeeOf } from '../bank/transaction-fee.ts';
import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { encodeUiTransaction, encodeUiTransactionAccounts } from '../encode/ui-transaction.ts';
import { readBankView } from './bank-view.ts';
import { readBlockCommitment, readConfig, readOptional, readU64, readVariant } from './json-rpc-params.ts';
import { type MethodHandlers, method, type NodeContext } from './method-handler.ts';
import { readBlockConfig, readTransactionView } from './transaction-view.ts';

const TRANSACTION_DETAILS = ['full', 'signatures', 'none', 'accounts'] as const;
const MAX_BLOCKS = 500_000;

export const BLOCK_METHODS: MethodHandlers = {
  getBlock: method(1, 1, (node, [slot, options]) => {
    const wanted = readU64(slot);
    const config = readBlockConfig(options);
    const commitment = readBlockCommitment(config);
    const { transactionDetails } = config;
    const details = readVariant(transactionDetails ?? 'full', TRANSACTION_DETAILS);
    const view = readTransactionView(config);
    const { transactions, ...block } = findBlock(node, wanted, commitment);
    return {
      blockHeight: block.height,
      blockTime: block.blockTime,
      blockhash: block.hash,
      parentSlot: block.parentSlot,
      previousBlockhash: block.parentHash,
      rewards: view.rewards ? leaderRewards(node.chain, transactions) : undefined,
      signatures: details === 'signatures' ? transactions.map(({ signature }) => signature) : undefined,
      transactions:
        details === 'full'
          ? transactions.map((landed) => encodeUiTransaction(landed, view))
          : details === 'accounts'
            ? transactions.map((landed) => encodeUiTransactionAccounts(landed, view))
            : undefined,
    };
  }),

  getBlockTime: method(1, 0, (node, [slot]) => findBlock(node, readU64(slot), 'processed').blockTime),

  getBlockCommitment: method(1, 0, (_node, [slot]) => {
    readU64(slot);
    return { commitment: null, totalStake: 0 }; // blocks become final without votes here
  }),

  getBlocks: method(1, 2, (node, [from, to, options]) => {
    const isLeftOut = typeof to === 'object';
    const newest = newestSlot(node, options ?? (isLeftOut ? to : undefined));
    const first = readU64(from);
    const end = (isLeftOut ? undefined : readOptional(to, readU64)) ?? first + MAX_BLOCKS;
    const last = Math.min(end, newest);
    if (last - first > MAX_BLOCKS) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS}`);
    return node.chain.slotsWithBlock(first, last);
  }),

  getBlocksWithLimit: method(2, 1, (node, [from, limit, options]) => {
    const count = readU64(limit);
    if (count > MAX_BLOCKS) throw invalidParams(`Limit too large; max ${MAX_BLOCKS}`);
    return node.chain.slotsWithBlock(readU64(from), newestSlot(node, options)).slice(0, count);
  }),

  minimumLedgerSlot: method(0, 0, ({ chain }) => chain.firstAvailableSlot),

  getFirstAvailableBlock: method(0, 0, ({ chain }) => chain.firstAvailableSlot),
};

/** Returns the newest slot with a block at the commitment of a list. Throws if that is below its `minContextSlot`. */
function newestSlot(node: NodeContext, options: unknown): Slot {
  const config = readConfig(options);
  const commitment = readBlockCommitment(config);
  readBankView(node, config);
  return node.chain.slot(commitment);
}

/** Finds the block of a slot at a commitment. A slot is certain to be skipped only below the root. */
function findBlock({ chain, faults }: NodeContext, slot: Slot, commitment: Commitment): Block {
  const { firstAvailableSlot } = chain;
  if (slot < firstAvailableSlot) {
    if (chain.isSkipped(slot))
      throw new JsonRpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);
    const kept = `First available block: ${firstAvailableSlot}`;
    throw new JsonRpcError(-32001, `Block ${slot} cleaned up, does not exist on node. ${kept}`);
  }
  const block = slot <= chain.slot(commitment) ? chain.block(slot) : undefined;
  if (block === undefined) {
    if (slot > chain.slot('finalized')) throw new JsonRpcError(-32004, `Block not available for slot ${slot}`);
    throw new JsonRpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  }
  const newerBlocks = (chain.newestBlock('confirmed')?.height ?? 0) - block.height;
  if (faults.blocksWithoutStatus > 0 && newerBlocks < faults.blocksWithoutStatus)
    throw new JsonRpcError(-32014, `Block status not yet available for slot ${slot}`);
  return block;
}

/** Returns the leader's reward: half of each signature's fee, of those that precompiles check too, and all priority fees. */
function leaderRewards(chain: Chain, transactions: Block['transactions']): object[] {
  let lamports = 0n;
  for (const { fee, transaction } of transactions) {
    lamports += fee - signatureFeeOf(transaction.message) / 2n;
  }
  if (lamports === 0n) return [];
  const postBalance = chain.account(chain.identity, 'processed')?.lamports ?? 0n;
  return [{ pubkey: chain.identity, lamports, postBalance, rewardType: 'Fee', commission: null }];
}
