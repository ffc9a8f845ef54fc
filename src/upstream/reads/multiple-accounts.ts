import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { batchesOf } from '../../runtime/batches-of.ts';
import { elementsYielding, isNull } from '../json/raw-json.ts';
import type { CallOptions, RpcCaller } from '../rpc/rpc-response.ts';

/** Most addresses that a node accepts in one getMultipleAccounts (Solana RPC). */
const MAX_ADDRESSES = 100;

/** Splits a list into batches that a node accepts. */
export const acceptedBatchesOf = <T>(items: readonly T[]): T[][] => batchesOf(items, MAX_ADDRESSES);

/** Config of getMultipleAccounts (Solana RPC). */
export interface AccountsConfig {
  readonly commitment: Commitment;
  readonly [option: string]: unknown;
}

export interface AccountsAtSlot {
  readonly slot: Slot;
  /** JSON of the existing accounts by address. */
  readonly accounts: ReadonlyMap<string, Buffer>;
  /** Length of the JSON of all of them. */
  readonly bytes: number;
}

/** Reads a batch of different accounts at one slot. */
export async function readMultipleAccounts(
  rpc: RpcCaller,
  addresses: readonly string[],
  config: AccountsConfig,
  options: Pick<CallOptions, 'cost' | 'deadlineMs' | 'isLarge'> = {},
): Promise<AccountsAtSlot> {
  const { commitment } = config;
  const { slot, value } = await rpc.call('getMultipleAccounts', [addresses, config], { commitment, ...options });
  const found = await elementsYielding(value);
  if (found.length !== addresses.length)
    throw new GatewayError('upstream_error', 'a node returned a wrong number of accounts');
  const accounts = new Map<string, Buffer>();
  for (const [i, account] of found.entries()) if (!isNull(account)) accounts.set(addresses[i] ?? '', account);
  return { slot, accounts, bytes: value.length };
}
