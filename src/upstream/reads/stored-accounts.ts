import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Slot } from '../../domain/slot.ts';
import { elements, members, text } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { accountLamports } from './account.ts';
import { inBatches, readMultiple } from './multiple-accounts.ts';

/** An account in its own bytes, which the gateway decodes itself. */
export interface StoredAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly data: Uint8Array;
}

/** How a read of state is made. */
export interface At {
  readonly commitment: Commitment;
  /** The answer must not be older than this. */
  readonly minContextSlot: Slot | undefined;
}

export interface StoredReading {
  /** The slot of each request that it took: one for a hundred addresses. */
  readonly slots: readonly Slot[];
  /** Those accounts that exist, by address. */
  readonly accounts: ReadonlyMap<string, StoredAccount>;
}

/** Reads accounts whole. Those that do not exist are not in the answer. */
export async function readStored(
  mesh: Pick<Mesh, 'call'>,
  addresses: readonly string[],
  at: At,
): Promise<StoredReading> {
  const batches = inBatches([...new Set(addresses)]);
  const config = { encoding: 'base64', ...at };
  const readings = await Promise.all(batches.map((batch) => readMultiple(mesh, batch, config)));
  const found = readings.flatMap(({ accounts }) => [...accounts]);
  return {
    slots: readings.map(({ slot }) => slot),
    accounts: new Map(found.map(([address, json]) => [address, storedAccount(json)])),
  };
}

/** Reads a node's JSON of an account whose data is in base64. Throws `upstream_error` for anything else. */
export function storedAccount(json: Buffer): StoredAccount {
  const parts = members(json);
  const [data, encoding] = elements(parts.get('data') ?? Buffer.from('null'));
  if (text(encoding) !== 'base64') throw new GatewayError('upstream_error', 'the data of an account is not base64');
  return { lamports: accountLamports(json), owner: text(parts.get('owner')), data: Buffer.from(text(data), 'base64') };
}
