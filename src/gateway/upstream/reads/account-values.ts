import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { type AccountValue, accountValue } from '../geyser/feed-update.ts';
import { member, parseU64 } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseEncodedAccount } from './encoded-accounts.ts';
import { readMultipleAccounts } from './multiple-accounts.ts';

/** Accounts at one slot. */
export interface AccountValuesAtSlot {
  readonly slot: Slot;
  /** Existing accounts by base58 address. */
  readonly values: ReadonlyMap<string, AccountValue>;
  /** The operators that gave all of them; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

/**
 * Reads accounts at confirmed as a feed shows them, at least at a slot: at finalized a node may read from a newer root.
 * `agree`: the operators that are compared. Default: 1.
 */
export async function readAccountValues(
  rpc: RpcCaller,
  addresses: readonly string[],
  minContextSlot: Slot,
  agree?: number,
): Promise<AccountValuesAtSlot> {
  const config = { commitment: 'confirmed', encoding: 'base64', minContextSlot } as const;
  const { slot, accounts, agreement } = await readMultipleAccounts(rpc, addresses, config, { agree });
  return { slot, agreement, values: new Map([...accounts].map(([address, json]) => [address, parseValue(json)])) };
}

function parseValue(json: Buffer): AccountValue {
  const rentEpoch = member(json, 'rentEpoch');
  const { lamports, owner, data } = parseEncodedAccount(json);
  const isExecutable = member(json, 'executable')?.toString() === 'true';
  return accountValue(lamports, owner, isExecutable, rentEpoch === undefined ? 0n : parseU64(rentEpoch), data);
}
