import type { Slot } from '../../domain/slot.ts';
import type { Block } from '../bank/produced-block.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { type BankView, readBankView } from './bank-view.ts';
import { readAddress, readConfig, readOptional, readString, readU64 } from './json-rpc-params.ts';
import type { MethodHandlers, NodeContext } from './method-handler.ts';

const MAX_PROCESSING_AGE = 150;

/** RPC methods that read slots, epochs and block production. */
export const SLOT_METHODS: MethodHandlers = {
  getSlot: {
    required: 0,
    optional: 1,
    handle: (node, [options]) => readBankView(node, readConfig(options)).slot,
  },

  getBlockHeight: {
    required: 0,
    optional: 1,
    handle: (node, [options]) => newestBlock(node, readBankView(node, readConfig(options)))?.height ?? 0,
  },

  getEpochInfo: {
    required: 0,
    optional: 1,
    handle(node, [options]) {
      const bank = readBankView(node, readConfig(options));
      const block = newestBlock(node, bank);
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
    handle: ({ chain }) => ({
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
    handle(node, [options]) {
      const bank = readBankView(node, readConfig(options));
      const { hash, lastValidHeight } = node.chain.latestBlockhash(bank.commitment);
      return bank.withContext({ blockhash: hash, lastValidBlockHeight: lastValidHeight });
    },
  },

  isBlockhashValid: {
    required: 1,
    optional: 1,
    handle(node, [hash, options]) {
      const wanted = readString(hash);
      const bank = readBankView(node, readConfig(options));
      let block = newestBlock(node, bank);
      for (let age = 0; block !== undefined && block.hash !== wanted; age++) {
        block = age < MAX_PROCESSING_AGE ? node.chain.block(block.parentSlot) : undefined;
      }
      return bank.withContext(block !== undefined);
    },
  },

  getBlockProduction: {
    required: 0,
    optional: 1,
    handle(node, [options]) {
      const { identity, range, ...rest } = readConfig(options);
      const wanted = readOptional(identity, readAddress);
      const bank = readBankView(node, { ...rest, minContextSlot: undefined });
      const { firstSlot, lastSlot } = readSlotRange(node, bank, range);
      let produced = 0;
      for (let slot = firstSlot; slot <= lastSlot; slot++) if (node.chain.block(slot) !== undefined) produced++;
      const { identity: leader } = node.chain;
      const byIdentity =
        wanted === undefined || wanted === leader ? { [leader]: [lastSlot - firstSlot + 1, produced] } : {};
      return bank.withContext({ byIdentity, range: { firstSlot, lastSlot } });
    },
  },
};

const newestBlock = ({ chain }: NodeContext, { commitment }: BankView): Block | undefined =>
  chain.newestBlock(commitment);

/** Reads the range of slots to count: the requested one, else the epoch so far. */
function readSlotRange(
  { chain }: NodeContext,
  bank: BankView,
  range: unknown,
): { readonly firstSlot: Slot; readonly lastSlot: Slot } {
  const newest = chain.slot(bank.commitment);
  const oldest = chain.firstAvailableSlot;
  if (range === undefined || range === null) {
    return { firstSlot: Math.max(newest - chain.epochOf(newest).slotIndex, oldest), lastSlot: newest };
  }
  const { firstSlot: from, lastSlot: to } = readConfig(range);
  const firstSlot = readU64(from);
  const lastSlot = readOptional(to, readU64) ?? newest;
  if (lastSlot < firstSlot) {
    throw invalidParams(`lastSlot, ${lastSlot}, cannot be less than firstSlot, ${firstSlot}`);
  }
  if (firstSlot < oldest) throw invalidParams(`firstSlot, ${firstSlot}, is too small; min ${oldest}`);
  if (lastSlot > newest) throw invalidParams(`lastSlot, ${lastSlot}, is too large; max ${newest}`);
  return { firstSlot, lastSlot };
}
