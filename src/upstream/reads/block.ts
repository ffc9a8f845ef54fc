import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Slot } from '../../domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  eachElement,
  elements,
  integerOrNull,
  isNull,
  members,
  membersInTurns,
  safeInteger,
  text,
  u64,
} from '../json/raw-json.ts';
import { nextTurn } from '../json/turns.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { type Meanings, refusedAs } from '../rpc/refused.ts';
import { RPC_CODE } from '../rpc/rpc-code.ts';
import { readAnyVersion } from './any-version.ts';
import { type BlockTally, tally } from './block-tally.ts';

/** A block without its transactions: what they come to instead. */
export interface BlockSummary {
  readonly blockhash: string;
  readonly parentSlot: Slot;
  readonly previousBlockhash: string;
  readonly blockHeight: number | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly transactions: BlockTally;
  /** What the leader earned, in lamports; null with `leader` where the record does not tell it. */
  readonly rewardLamports: bigint | null;
  readonly leader: string | null;
}

export interface BlockReading {
  /** What the node had reached when it was asked. */
  readonly slot: Slot;
  readonly block: BlockSummary;
}

/** The slot has no block yet, as far as anybody knows. */
export const notAvailableYet = (): GatewayError =>
  new GatewayError('block_not_available', 'the block is not there yet', { retryAfter: 1 });

const skipped = (): GatewayError => new GatewayError('slot_skipped', 'the slot has no block and never will');
const pruned = (): GatewayError => new GatewayError('block_pruned', 'the block is older than what the upstreams keep');

const MEANINGS: Meanings = {
  [RPC_CODE.blockCleanedUp]: pruned,
  [RPC_CODE.blockNotAvailable]: notAvailableYet,
  [RPC_CODE.slotSkipped]: skipped,
  [RPC_CODE.longTermStorageSlotSkipped]: skipped,
  [RPC_CODE.transactionHistoryNotAvailable]: pruned,
  [RPC_CODE.blockStatusNotAvailableYet]: notAvailableYet,
};

/**
 * Reads the block of a slot and keeps what it comes to. Throws `slot_skipped`, `block_not_available` or `block_pruned`
 * where there is none.
 */
export async function readBlock(
  mesh: Pick<Mesh, 'call'>,
  slot: Slot,
  { commitment, minSlot }: { readonly commitment: Commitment; readonly minSlot?: Slot | undefined },
): Promise<BlockReading> {
  const config = { transactionDetails: 'accounts', rewards: true };
  const read = { method: 'getBlock', subject: slot, config, commitment, minSlot } as const;
  const reading = await readAnyVersion(mesh, read).catch(refusedAs(MEANINGS));
  if (isNull(reading.result)) throw notAvailableYet();
  return { slot: reading.slot, block: await summary(reading.result) };
}

/** Reads a `getBlock` result in many turns of the event loop, none of them longer than a few milliseconds. */
export async function summary(result: Buffer): Promise<BlockSummary> {
  const parts = await membersInTurns(result);
  const [transactions, rewards] = [parts.get('transactions'), parts.get('rewards')];
  if (transactions === undefined) throw malformed();
  return {
    blockhash: text(parts.get('blockhash')),
    parentSlot: safeInteger(parts.get('parentSlot')),
    previousBlockhash: text(parts.get('previousBlockhash')),
    blockHeight: integerOrNull(parts.get('blockHeight')),
    blockTime: integerOrNull(parts.get('blockTime')),
    transactions: await tally(eachElement(transactions), nextTurn),
    ...leaderReward(rewards),
  };
}

/** Whoever has the fees of a block is its leader. */
function leaderReward(rewards: Buffer | undefined): Pick<BlockSummary, 'rewardLamports' | 'leader'> {
  if (rewards === undefined || isNull(rewards)) return { rewardLamports: null, leader: null };
  const fee = elements(rewards)
    .filter((reward) => reward.includes('"Fee"'))
    .map((reward) => members(reward))
    .find((reward) => text(reward.get('rewardType')) === 'Fee');
  if (fee === undefined) return { rewardLamports: null, leader: null };
  return { rewardLamports: u64(fee.get('lamports')), leader: text(fee.get('pubkey')) };
}
