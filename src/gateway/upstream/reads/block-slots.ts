import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { elements, member, parseSafeInteger } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

/** Reads which slots of a range have a confirmed block, in their order. */
export async function readBlockSlots(
  rpc: RpcCaller,
  from: Slot,
  to: Slot,
  cost: RequestCost | undefined,
): Promise<readonly Slot[]> {
  const params = [from, to, { commitment: 'confirmed' }];
  const { result } = await rpc.call('getBlocks', params, { commitment: 'confirmed', cost });
  const slots = elements(result).map(parseSafeInteger);
  if (slots.every((slot, i) => slot >= from && slot <= to && slot > (slots[i - 1] ?? -1))) return slots;
  throw new GatewayError('upstream_error', 'a node listed blocks that are not in the range');
}

/**
 * Reads the parent of a block: the slots between the two were skipped. That a node lists no block of a slot proves nothing: it
 * loses blocks when it jumps to a snapshot.
 */
export async function readParentSlot(
  rpc: RpcCaller,
  slot: Slot,
  commitment: Commitment,
  cost?: RequestCost,
): Promise<Slot> {
  const config = { transactionDetails: 'none', rewards: false };
  const request = { method: 'getBlock', subject: slot, config, commitment, cost } as const;
  const { result } = await callWithMaxSupportedVersion(rpc, request);
  return parseSafeInteger(member(result, 'parentSlot'));
}
