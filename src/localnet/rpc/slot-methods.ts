import type { Slot } from '../../shared/domain/slot.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { type BankView, readBankView } from './bank-view.ts';
import { readAddress, readCommitment, readConfig, readOptional, readU64 } from './json-rpc-params.ts';
import { type MethodHandlers, method, type NodeContext } from './method-handler.ts';

const MAX_LEADERS = 5000;
/** Slots of an epoch of mainnet. */
const MAX_SCHEDULE = 432_000;

export const SLOT_METHODS: MethodHandlers = {
  getSlot: method(0, 1, (node, [options]) => readBankView(node, options).slot),

  getBlockHeight: method(0, 1, (node, [options]) => readBankView(node, options).newestBlock()?.height ?? 0),

  getEpochInfo: method(0, 1, (node, [options]) => {
    const bank = readBankView(node, options);
    const block = bank.newestBlock();
    return {
      absoluteSlot: bank.slot,
      blockHeight: block?.height ?? 0,
      ...node.chain.epochOf(bank.slot),
      slotsInEpoch: node.chain.slotsPerEpoch,
      transactionCount: block?.transactionCount ?? null,
    };
  }),

  getLatestBlockhash: method(0, 1, (node, [options]) => {
    const bank = readBankView(node, options);
    const { hash, lastValidHeight } = node.chain.latestBlockhash(bank.commitment);
    return bank.withContext({ blockhash: hash, lastValidBlockHeight: lastValidHeight });
  }),

  isBlockhashValid: method(1, 1, (node, [hash, options]) => {
    const wanted = readAddress(hash);
    const bank = readBankView(node, options);
    return bank.withContext(node.chain.isBlockhashValid(wanted, bank.commitment));
  }),

  getTransactionCount: method(
    0,
    1,
    (node, [options]) => readBankView(node, options).newestBlock()?.transactionCount ?? 0,
  ),

  getSlotLeader: method(0, 1, (node, [options]) => {
    readBankView(node, options); // for its minContextSlot
    return node.chain.identity;
  }),

  getSlotLeaders: method(2, 0, ({ chain }, [from, limit]) => {
    const count = readU64(limit);
    const { epoch } = chain.epochOf(readU64(from) + Math.max(0, count - 1));
    if (count > MAX_LEADERS) throw invalidParams(`Invalid limit; max ${MAX_LEADERS}`);
    if (epoch > chain.epochOf(chain.slot('finalized')).epoch + 1)
      throw invalidParams(`Invalid slot range: leader schedule for epoch ${epoch} is unavailable`);
    return Array.from({ length: count }, () => chain.identity);
  }),

  getLeaderSchedule: method(0, 2, (node, [slot, options]) => {
    const { chain } = node;
    const { identity, ...config } = readConfig(typeof slot === 'object' ? (slot ?? options) : options); // no slot is needed
    const wanted = readOptional(identity, readAddress);
    const newest = chain.slot(readCommitment(config));
    const { epoch } = chain.epochOf((typeof slot === 'object' ? undefined : readOptional(slot, readU64)) ?? newest);
    if (epoch > chain.epochOf(chain.slot('finalized')).epoch + 1) return null;
    if (wanted !== undefined && wanted !== chain.identity) return {};
    if (chain.slotsPerEpoch > MAX_SCHEDULE)
      throw invalidParams(`The schedule of an epoch of ${chain.slotsPerEpoch} slots is too long: use getSlotLeaders`);
    return { [chain.identity]: Array.from({ length: chain.slotsPerEpoch }, (_, index) => index) };
  }),

  getMaxShredInsertSlot: method(0, 0, ({ chain, faults }) => chain.slot('processed') + faults.slotSkew),
  getMaxRetransmitSlot: method(0, 0, () => 0), // there is no other node

  getEpochSchedule: method(0, 0, ({ chain: { slotsPerEpoch } }) => ({
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
    leaderScheduleSlotOffset: slotsPerEpoch,
    slotsPerEpoch,
    warmup: false,
  })),

  getBlockProduction: method(0, 1, (node, [options]) => {
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
  }),
};

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
