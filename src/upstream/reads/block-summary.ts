import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { ownTurn } from '../../domain/own-turn.ts';
import type { Slot } from '../../domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  eachElement,
  elements,
  isNull,
  members,
  membersYielding,
  parseIntegerOrNull,
  parseSafeInteger,
  parseString,
  parseU64,
} from '../json/raw-json.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { type RpcErrorTranslations, translateRpcError } from '../rpc/translate-rpc-error.ts';
import { type BlockTally, tallyTransactions } from './block-tally.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

/** Block with counts in place of its transactions. */
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
}

export interface BlockSummaryRead {
  /** Latest slot of the node when the request was sent. */
  readonly slot: Slot;
  readonly block: BlockSummary;
}

/** Creates the error for a slot without a block so far. */
export const blockNotAvailable = (): GatewayError =>
  new GatewayError('block_not_available', 'the block is not available yet; retry in a moment', { retryAfter: 1 });

const slotSkipped = (): GatewayError => new GatewayError('slot_skipped', 'the slot has no block and never will');
const blockPruned = (): GatewayError =>
  new GatewayError('block_pruned', 'the block is older than what the upstreams keep');

const TRANSLATIONS: RpcErrorTranslations = {
  [RPC_ERROR_CODE.blockCleanedUp]: blockPruned,
  [RPC_ERROR_CODE.blockNotAvailable]: blockNotAvailable,
  [RPC_ERROR_CODE.slotSkipped]: slotSkipped,
  [RPC_ERROR_CODE.longTermStorageSlotSkipped]: slotSkipped,
  [RPC_ERROR_CODE.transactionHistoryNotAvailable]: blockPruned,
  [RPC_ERROR_CODE.blockStatusNotAvailableYet]: blockNotAvailable,
};

/**
 * Reads the block of a slot and summarizes it. Throws `slot_skipped`, `block_not_available` or `block_pruned` where
 * there is none.
 */
export async function readBlockSummary(
  rpc: RpcCaller,
  slot: Slot,
  { commitment, minSlot }: { readonly commitment: Commitment; readonly minSlot?: Slot | undefined },
): Promise<BlockSummaryRead> {
  const config = { transactionDetails: 'accounts', rewards: true };
  const request = { method: 'getBlock', subject: slot, config, commitment, minSlot } as const;
  const response = await callWithMaxSupportedVersion(rpc, request).catch(translateRpcError(TRANSLATIONS));
  if (isNull(response.result)) throw blockNotAvailable();
  return { slot: response.slot, block: await summarizeBlock(response.result) };
}

/** Summarizes a `getBlock` result in many turns of the event loop, none longer than a few milliseconds. */
export async function summarizeBlock(result: Buffer): Promise<BlockSummary> {
  const parts = await membersYielding(result);
  const [transactions, rewards] = [parts.get('transactions'), parts.get('rewards')];
  if (transactions === undefined) throw malformed();
  return {
    blockhash: parseString(parts.get('blockhash')),
    parentSlot: parseSafeInteger(parts.get('parentSlot')),
    previousBlockhash: parseString(parts.get('previousBlockhash')),
    blockHeight: parseIntegerOrNull(parts.get('blockHeight')),
    blockTime: parseIntegerOrNull(parts.get('blockTime')),
    transactions: await tallyTransactions(eachElement(transactions), ownTurn),
    ...leaderReward(rewards),
  };
}

/** Finds the leader of a block: the one who gets its fees. */
function leaderReward(rewards: Buffer | undefined): Pick<BlockSummary, 'rewardLamports' | 'leader'> {
  if (rewards === undefined || isNull(rewards)) return { rewardLamports: null, leader: null };
  const fee = elements(rewards)
    .filter((reward) => reward.includes('"Fee"'))
    .map((reward) => members(reward))
    .find((reward) => parseString(reward.get('rewardType')) === 'Fee');
  if (fee === undefined) return { rewardLamports: null, leader: null };
  return { rewardLamports: parseU64(fee.get('lamports')), leader: parseString(fee.get('pubkey')) };
}
