import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { type AccountValue, accountValue } from '../geyser/feed-update.ts';
import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { member, shortText } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { parseRentEpoch } from './account-info.ts';
import { parseEncodedAccount } from './encoded-accounts.ts';
import { readMultipleAccounts } from './multiple-accounts.ts';

export interface AccountValuesAtSlot {
  readonly slot: Slot;
  /** Existing accounts by base58 address, save those that are too large. */
  readonly values: ReadonlyMap<string, AccountValue>;
  /** Addresses of the accounts whose JSON is longer than it may be: they are not decoded. */
  readonly tooLarge: ReadonlySet<string>;
  /** The operators that gave all of them; undefined over one operator. */
  readonly agreement: Agreement | undefined;
}

export interface AccountValuesOptions {
  readonly minContextSlot: Slot;
  /** The most bytes of the JSON of an account, its data in base64. */
  readonly maxBytes: number;
  /** The operators that are compared. Default: 1. */
  readonly agree?: number | undefined;
}

/** Reads accounts at confirmed as a feed shows them, at least at a slot: at finalized a node may read from a newer root. */
export async function readAccountValues(
  rpc: RpcCaller,
  addresses: readonly string[],
  { minContextSlot, maxBytes, agree }: AccountValuesOptions,
): Promise<AccountValuesAtSlot> {
  const config = { commitment: 'confirmed', encoding: 'base64', minContextSlot } as const;
  const { slot, accounts, agreement } = await readMultipleAccounts(rpc, addresses, config, { agree });
  const [values, tooLarge] = [new Map<string, AccountValue>(), new Set<string>()];
  let bytesSinceYield = 0;
  for (const [address, json] of accounts) {
    if (json.length > maxBytes) {
      tooLarge.add(address);
      continue;
    }
    values.set(address, parseValue(json));
    bytesSinceYield += json.length;
    if (bytesSinceYield < YIELD_EVERY_BYTES) continue;
    await ownTurn();
    bytesSinceYield = 0;
  }
  return { slot, values, tooLarge, agreement };
}

function parseValue(json: Buffer): AccountValue {
  const rentEpoch = member(json, 'rentEpoch');
  const { lamports, owner, data } = parseEncodedAccount(json);
  const isExecutable = shortText(member(json, 'executable')) === 'true';
  return accountValue(lamports, owner, isExecutable, rentEpoch === undefined ? 0n : parseRentEpoch(rentEpoch), data);
}
