import { createHash, hash } from 'node:crypto';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  canonicalJson,
  forEachElement,
  isNull,
  type Members,
  members,
  membersYielding,
  parseI64,
  parseIntegerOrNull,
  parseSafeInteger,
  parseString,
  pickMembers,
} from '../json/raw-json.ts';
import type { Facts } from '../rpc/facts.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';
import { type RpcErrorTranslations, translateRpcError } from '../rpc/translate-rpc-error.ts';
import { readBlockSlots, readParentSlot } from './block-slots.ts';
import { type BlockTally, tallyTransactions } from './block-tally.ts';
import { callWithMaxSupportedVersion, comparisonBy, type VersionedReadOptions } from './max-supported-version.ts';

export interface BlockSummary {
  readonly blockhash: string;
  readonly parentSlot: Slot;
  readonly previousBlockhash: string;
  readonly blockHeight: number | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly transactions: BlockTally;
  /** Lamports that the leader earned; null, as `leader`, where the block has no rewards. */
  readonly rewardLamports: bigint | null;
  readonly leader: string | null;
  /** Sums of the rewards of each kind, in the order of their names; null where the node gives none. */
  readonly rewards: readonly RewardSum[] | null;
}

export interface RewardSum {
  /** As nodes name it: `Fee`, `Rent`, `Staking`, `Voting`; null for older records. */
  readonly kind: string | null;
  readonly count: number;
  /** Less than 0 where it was taken, as rent was. */
  readonly lamports: bigint;
}

export interface BlockSummaryRead {
  readonly slot: Slot;
  readonly block: BlockSummary;
  readonly bytes: number;
  /** The operators that gave it; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

export const blockNotAvailable = (): GatewayError =>
  new GatewayError('block_not_available', 'the block is not available yet; retry in a moment', { retryAfter: 1 });

const slotSkipped = (): GatewayError =>
  new GatewayError('slot_skipped', 'no upstream has a block of this slot: its leader skipped it, or they lost it');
const blockPruned = (): GatewayError =>
  new GatewayError('block_pruned', 'the block is older than what the upstreams keep');

const TRANSLATIONS: RpcErrorTranslations = {
  [RPC_ERROR_CODE.blockCleanedUp]: blockPruned,
  [RPC_ERROR_CODE.blockNotAvailable]: blockNotAvailable,
  [RPC_ERROR_CODE.slotSkipped]: slotSkipped,
};

/** Throws `slot_skipped`, `block_not_available` or `block_pruned` where there is no block. */
export async function readBlockSummary(
  rpc: RpcCaller,
  slot: Slot,
  options: VersionedReadOptions,
): Promise<BlockSummaryRead> {
  const response = await readBlock(rpc, slot, { transactionDetails: 'accounts' }, options, digestOfSummary);
  const { slot: readAt, result, agreement } = response;
  return { slot: readAt, block: await summarizeBlock(result), bytes: result.length, agreement };
}

const digestOfSummary = async (result: Buffer): Promise<string> =>
  hash('sha256', toJson(await summarizeBlock(result)), 'hex');

/**
 * Returns what every honest node has alike of a block, in whatever detail: its place in the chain, its transactions, and of each its
 * fee, balances and whether it succeeded. A node may have forgotten when a block was made, its rewards, or how its transactions
 * ended.
 */
async function factsOfBlock(result: Buffer): Promise<Facts> {
  const block = await membersYielding(result);
  const [order, outcomes] = [createHash('sha256'), createHash('sha256')];
  for (const name of ['blockhash', 'parentSlot', 'previousBlockhash']) order.update(block.get(name) ?? '').update(' ');
  let hasOutcomes = true;
  await forEachElement(transactionsOf(block), YIELD_EVERY_BYTES, (bytes) => {
    const [transaction, meta] = pickMembers(bytes, ['transaction', 'meta']);
    const [signatures] = transaction === undefined ? [] : pickMembers(transaction, ['signatures']);
    order.update(spelledAlike(signatures)).update(' ');
    hasOutcomes &&= meta !== undefined && !isNull(meta);
    if (meta !== undefined && hasOutcomes) {
      const [err, ...amounts] = pickMembers(meta, ['err', 'fee', 'preBalances', 'postBalances']);
      outcomes.update(`${isNull(err)} ${amounts.map(spelledAlike).join(' ')} `);
    }
  });
  const facts = new Map([['block', order.digest('hex')]]);
  return hasOutcomes ? facts.set('outcomes', outcomes.digest('hex')) : facts;
}

/** Returns a value without white space, which a proxy before a node may have added. */
const spelledAlike = (part: Buffer | undefined): string => (part === undefined ? '' : canonicalJson(part));

/** Digests a whole block, as all of it may be shown. */
async function digestOfBytes(result: Buffer): Promise<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < result.length; at += HASHED_PER_TURN) {
    await ownTurn();
    digest.update(result.subarray(at, at + HASHED_PER_TURN));
  }
  return digest.digest('hex');
}

/** The bytes that are hashed in one turn of the event loop, in about a millisecond. */
const HASHED_PER_TURN = 1 << 20;

/** Reads the block of a slot with all that its transactions say. Throws as {@link readBlockSummary} does. */
export const readFullBlock = (rpc: RpcCaller, slot: Slot, options: VersionedReadOptions): Promise<RpcResponse> =>
  readBlock(rpc, slot, { transactionDetails: 'full', encoding: 'json' }, options, digestOfBytes);

/** Slots from a skipped one on among which the next block is. */
const MAX_SKIPPED = 64;

/** Returns true if the finalized chain leaves out a slot: the parent of the next block is older. */
export async function isLeftOut(rpc: RpcCaller, slot: Slot): Promise<boolean> {
  const [next] = await readBlockSlots(rpc, slot, slot + MAX_SKIPPED, undefined);
  if (next === undefined || next === slot) return false;
  return (await readParentSlot(rpc, next, 'finalized')) < slot;
}

async function readBlock(
  rpc: RpcCaller,
  slot: Slot,
  details: object,
  options: VersionedReadOptions,
  digestOf: (result: Buffer) => Promise<string>,
): Promise<RpcResponse> {
  const config = { ...details, rewards: true };
  const compare = comparisonBy(digestOf, factsOfBlock);
  const request = { ...options, method: 'getBlock', subject: slot, config, compare } as const;
  const response = await callWithMaxSupportedVersion(rpc, request).catch(translateRpcError(TRANSLATIONS));
  if (isNull(response.result)) throw blockNotAvailable();
  return response;
}

/** Summarizes a `getBlock` result in many turns of the event loop, none longer than a few milliseconds. */
export async function summarizeBlock(result: Buffer): Promise<BlockSummary> {
  const parts = await membersYielding(result);
  const transactions = await tallyTransactions(transactionsOf(parts));
  const rewards = new RewardCounter();
  // the first blocks of an epoch have megabytes of rewards
  await forEachElement(rewardsOf(parts), YIELD_EVERY_BYTES, (reward) => rewards.add(reward));
  return describeBlock(parts, transactions, rewards);
}

/** Returns the transactions in a `getBlock` result. Throws `upstream_error` if it has none. */
export function transactionsOf(block: Members): Buffer {
  const transactions = block.get('transactions');
  if (transactions === undefined) throw malformed();
  return transactions;
}

export function rewardsOf(block: Members): Buffer {
  const rewards = block.get('rewards');
  return rewards === undefined || isNull(rewards) ? NO_REWARDS : rewards;
}

const NO_REWARDS = Buffer.from('[]');

/** Puts a summary together from the members of a `getBlock` result and what was counted in it. */
export const describeBlock = (block: Members, transactions: BlockTally, rewards: RewardCounter): BlockSummary => ({
  blockhash: parseString(block.get('blockhash')),
  parentSlot: parseSafeInteger(block.get('parentSlot')),
  previousBlockhash: parseString(block.get('previousBlockhash')),
  blockHeight: parseIntegerOrNull(block.get('blockHeight')),
  blockTime: parseIntegerOrNull(block.get('blockTime')),
  transactions,
  ...rewards.leaderReward,
  rewards: isNull(block.get('rewards')) ? null : rewards.sums(),
});

/** Adds up the rewards of a block by kind, and finds the leader: the account that gets its fees. */
export class RewardCounter {
  readonly #sums = new Map<string | null, RewardSum>();
  leaderReward: Pick<BlockSummary, 'rewardLamports' | 'leader'> = { rewardLamports: null, leader: null };

  add(bytes: Buffer): void {
    const reward = members(bytes);
    const rewardType = reward.get('rewardType');
    const kind = isNull(rewardType) ? null : parseString(rewardType);
    const lamports = parseI64(reward.get('lamports'));
    const { count = 0, lamports: sum = 0n } = this.#sums.get(kind) ?? {};
    if (count === 0 && this.#sums.size >= MAX_REWARD_KINDS) throw malformed();
    this.#sums.set(kind, { kind, count: count + 1, lamports: sum + lamports });
    if (kind === 'Fee' && this.leaderReward.leader === null)
      this.leaderReward = { rewardLamports: lamports, leader: parseString(reward.get('pubkey')) };
  }

  sums(): readonly RewardSum[] {
    return [...this.#sums.values()].sort((a, b) => ((a.kind ?? '') < (b.kind ?? '') ? -1 : 1));
  }
}

/** More kinds than any cluster has. */
const MAX_REWARD_KINDS = 16;
