import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/price-list.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { elements, parseSafeInteger } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

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
