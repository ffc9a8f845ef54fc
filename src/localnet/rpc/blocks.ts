import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Block } from '../bank/block.ts';
import type { Chain } from '../bank/chain.ts';
import {
  blockCleanedUp,
  blockNotAvailable,
  blockStatusNotAvailableYet,
  longTermSlotSkipped,
  slotSkipped,
} from '../encode/node-error.ts';
import { uiTransaction, uiTransactionAccounts } from '../encode/ui-transaction.ts';
import type { Methods, Node } from './method.ts';
import { blockCommitment, u64, variant } from './params.ts';
import { blockConfig, transactionView } from './transaction-view.ts';

const DETAILS = ['full', 'signatures', 'none', 'accounts'] as const;
const LAMPORTS_PER_SIGNATURE = 5000n;

/** Reads of blocks. */
export const BLOCK_METHODS: Methods = {
  getBlock: {
    required: 1,
    optional: 1,
    answer(node, [slot, options]) {
      const wanted = u64(slot);
      const config = blockConfig(options);
      const commitment = blockCommitment(config);
      const { transactionDetails } = config;
      const details = variant(transactionDetails ?? 'full', DETAILS);
      const view = transactionView(config);
      const { transactions, ...block } = blockAt(node, wanted, commitment);
      return {
        blockHeight: block.height,
        blockTime: block.time,
        blockhash: block.hash,
        parentSlot: block.parentSlot,
        previousBlockhash: block.parentHash,
        rewards: view.rewards ? rewards(node.chain, transactions) : undefined,
        signatures: details === 'signatures' ? transactions.map(({ signature }) => signature) : undefined,
        transactions:
          details === 'full'
            ? transactions.map((landed) => uiTransaction(landed, view))
            : details === 'accounts'
              ? transactions.map((landed) => uiTransactionAccounts(landed, view))
              : undefined,
      };
    },
  },

  getBlockTime: {
    required: 1,
    optional: 0,
    answer: (node, [slot]) => blockAt(node, u64(slot), 'processed').time,
  },

  getFirstAvailableBlock: { required: 0, optional: 0, answer: ({ chain }) => chain.firstAvailable },
  minimumLedgerSlot: { required: 0, optional: 0, answer: ({ chain }) => chain.firstAvailable },
};

/** The block of a slot as far as a commitment sees. That a slot was skipped is certain only below the root. */
function blockAt({ chain, faults }: Node, slot: Slot, commitment: Commitment): Block {
  const { firstAvailable } = chain;
  if (slot < firstAvailable)
    throw chain.isSkipped(slot) ? longTermSlotSkipped(slot) : blockCleanedUp(slot, firstAvailable);
  const block = slot <= chain.slot(commitment) ? chain.block(slot) : undefined;
  if (block === undefined) throw slot <= chain.slot('finalized') ? slotSkipped(slot) : blockNotAvailable(slot);
  const newer = (chain.head('confirmed')?.height ?? 0) - block.height;
  if (newer < faults.unwrittenBlocks) throw blockStatusNotAvailableYet(slot);
  return block;
}

/** What the leader earned: half of each signature's fee, all of what was paid for priority. */
function rewards(chain: Chain, transactions: Block['transactions']): object[] {
  let lamports = 0n;
  for (const { fee, transaction } of transactions) {
    lamports += fee - (LAMPORTS_PER_SIGNATURE * BigInt(transaction.signatures.length)) / 2n;
  }
  if (lamports === 0n) return [];
  const postBalance = chain.account(chain.identity, 'processed')?.lamports ?? 0n;
  return [{ pubkey: chain.identity, lamports, postBalance, rewardType: 'Fee', commission: null }];
}
