import type { Slot } from '../../../shared/domain/slot.ts';
import { elements, member, parseString } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import type { ReadOptions } from './encoded-accounts.ts';

/** Reads the addresses of the at most 20 largest token accounts of a mint. Does not translate RPC errors. */
export async function readLargestTokenAccounts(
  rpc: RpcCaller,
  mint: string,
  { commitment, minContextSlot: minSlot }: ReadOptions,
): Promise<{ readonly slot: Slot; readonly addresses: readonly string[] }> {
  const { slot, value } = await rpc.call('getTokenLargestAccounts', [mint, { commitment }], { commitment, minSlot });
  return { slot, addresses: elements(value).map((row) => parseString(member(row, 'address'))) };
}
