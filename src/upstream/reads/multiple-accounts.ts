import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { elements, isNull } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';

/** A node refuses more keys in one getMultipleAccounts. */
const MAX_ADDRESSES = 100;

/** What is asked of accounts, in parts that a node takes at once. */
export const batchesOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / MAX_ADDRESSES) }, (_, i) =>
    items.slice(i * MAX_ADDRESSES, (i + 1) * MAX_ADDRESSES),
  );

/** Reads a batch of different accounts at one slot: the JSON of those that exist, by address. */
export async function readMultipleAccounts(
  mesh: Pick<Mesh, 'call'>,
  addresses: readonly string[],
  config: { readonly commitment: Commitment; readonly [option: string]: unknown },
): Promise<{ readonly slot: Slot; readonly accounts: ReadonlyMap<string, Buffer> }> {
  const { commitment } = config;
  const { slot, value } = await mesh.call('getMultipleAccounts', [addresses, config], { commitment });
  const found = elements(value);
  if (found.length !== addresses.length) throw new GatewayError('upstream_error', 'wrong number of accounts');
  const accounts = new Map<string, Buffer>();
  for (const [i, account] of found.entries()) if (!isNull(account)) accounts.set(addresses[i] ?? '', account);
  return { slot, accounts };
}
