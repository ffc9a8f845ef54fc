import type { Slot } from '../../domain/slot.ts';
import type { Block } from '../bank/block.ts';
import { invalidParams } from '../encode/node-error.ts';
import { type BankView, bankView } from './bank-view.ts';
import type { Methods, Node } from './method.ts';
import { address, config, optional, string, u64 } from './params.ts';

const BLOCKHASH_LIFE = 150;

/** Reads of the cluster's clock: slots, epochs, who made blocks. */
export const SLOT_METHODS: Methods = {
  getSlot: {
    required: 0,
    optional: 1,
    answer: (node, [options]) => bankView(node, config(options)).slot,
  },

  getBlockHeight: {
    required: 0,
    optional: 1,
    answer: (node, [options]) => head(node, bankView(node, config(options)))?.height ?? 0,
  },

  getEpochInfo: {
    required: 0,
    optional: 1,
    answer(node, [options]) {
      const bank = bankView(node, config(options));
      const block = head(node, bank);
      return {
        absoluteSlot: bank.slot,
        blockHeight: block?.height ?? 0,
        ...node.chain.epochOf(bank.slot),
        slotsInEpoch: node.chain.slotsPerEpoch,
        transactionCount: block?.transactionCount ?? null,
      };
    },
  },

  getEpochSchedule: {
    required: 0,
    optional: 0,
    answer: ({ chain }) => ({
      slotsPerEpoch: chain.slotsPerEpoch,
      leaderScheduleSlotOffset: chain.slotsPerEpoch,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),
  },

  getLatestBlockhash: {
    required: 0,
    optional: 1,
    answer(node, [options]) {
      const bank = bankView(node, config(options));
      const { hash, lastValidHeight } = node.chain.latestBlockhash(bank.commitment);
      return bank.withContext({ blockhash: hash, lastValidBlockHeight: lastValidHeight });
    },
  },

  isBlockhashValid: {
    required: 1,
    optional: 1,
    answer(node, [hash, options]) {
      const wanted = string(hash);
      const bank = bankView(node, config(options));
      let block = head(node, bank);
      for (let age = 0; block !== undefined && block.hash !== wanted; age++) {
        block = age < BLOCKHASH_LIFE ? node.chain.block(block.parentSlot) : undefined;
      }
      return bank.withContext(block !== undefined);
    },
  },

  getBlockProduction: {
    required: 0,
    optional: 1,
    answer(node, [options]) {
      const { identity, range, ...rest } = config(options);
      const asked = optional(identity, address);
      const bank = bankView(node, { ...rest, minContextSlot: undefined });
      const { firstSlot, lastSlot } = slotRange(node, bank, range);
      let produced = 0;
      for (let slot = firstSlot; slot <= lastSlot; slot++) if (node.chain.block(slot) !== undefined) produced++;
      const { identity: leader } = node.chain;
      const byIdentity =
        asked === undefined || asked === leader ? { [leader]: [lastSlot - firstSlot + 1, produced] } : {};
      return bank.withContext({ byIdentity, range: { firstSlot, lastSlot } });
    },
  },
};

const head = ({ chain }: Node, { commitment }: BankView): Block | undefined => chain.head(commitment);

/** The slots to count: those asked for, else the epoch so far. */
function slotRange(
  { chain }: Node,
  bank: BankView,
  range: unknown,
): { readonly firstSlot: Slot; readonly lastSlot: Slot } {
  const newest = chain.slot(bank.commitment);
  const oldest = chain.firstAvailable;
  if (range === undefined || range === null) {
    return { firstSlot: Math.max(newest - chain.epochOf(newest).slotIndex, oldest), lastSlot: newest };
  }
  const { firstSlot: from, lastSlot: to } = config(range);
  const firstSlot = u64(from);
  const lastSlot = optional(to, u64) ?? newest;
  if (lastSlot < firstSlot) {
    throw invalidParams(`lastSlot, ${lastSlot}, cannot be less than firstSlot, ${firstSlot}`);
  }
  if (firstSlot < oldest) throw invalidParams(`firstSlot, ${firstSlot}, is too small; min ${oldest}`);
  if (lastSlot > newest) throw invalidParams(`lastSlot, ${lastSlot}, is too large; max ${newest}`);
  return { firstSlot, lastSlot };
}
