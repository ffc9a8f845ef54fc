import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { batchesOf } from '../../../shared/runtime/map-in-chunks.ts';
import { elementsYielding, isNull } from '../json/raw-json.ts';
import { provenByClock } from '../rpc/clock-slot.ts';
import type { CallOptions, RpcCaller } from '../rpc/rpc-response.ts';

/** Most addresses that a node accepts in one getMultipleAccounts (Solana RPC). */
const MAX_ADDRESSES = 100;

/** Splits a list into batches that a node accepts: at finalized with the Clock, which {@link readMultipleAccounts} adds. */
export const acceptedBatchesOf = <T>(items: readonly T[], commitment: Commitment): T[][] =>
  batchesOf(items, namesClock(commitment) ? MAX_ADDRESSES - 1 : MAX_ADDRESSES);

/** Returns true where reads name the Clock, which shows if accounts are newer than their slot. Only these are `exact`. */
export const namesClock = (commitment: Commitment): boolean => commitment === 'finalized';

export interface AccountsConfig {
  readonly commitment: Commitment;
  readonly [option: string]: unknown;
}

export interface AccountsAtSlot {
  readonly slot: Slot;
  /** First slot at which they are proven to hold; undefined where no Clock is read. */
  readonly provenFrom: Slot | undefined;
  readonly accounts: ReadonlyMap<string, Buffer>;
  readonly bytes: number;
}

/**
 * Reads a batch of different accounts at one slot. At finalized the last address is the Clock: a node loads one address
 * after the other, so the Clock shows the newest slot that those before it may be of.
 */
export async function readMultipleAccounts(
  rpc: RpcCaller,
  addresses: readonly string[],
  config: AccountsConfig,
  options: Pick<CallOptions, 'cost' | 'deadlineMs' | 'isLarge'> = {},
): Promise<AccountsAtSlot> {
  const { commitment } = config;
  const isDated = namesClock(commitment);
  const named = isDated ? [...addresses.filter((address) => address !== CLOCK_SYSVAR), CLOCK_SYSVAR] : addresses;
  const { slot, value } = await rpc.call('getMultipleAccounts', [named, config], { commitment, ...options });
  const found = await elementsYielding(value);
  if (found.length !== named.length)
    throw new GatewayError('upstream_error', 'a node returned a wrong number of accounts');
  const accounts = new Map<string, Buffer>();
  for (const [i, account] of found.entries()) if (!isNull(account)) accounts.set(named[i] ?? '', account);
  const provenFrom = isDated ? provenByClock(slot, accounts.get(CLOCK_SYSVAR)) : undefined;
  return { slot, provenFrom, accounts, bytes: value.length };
}
