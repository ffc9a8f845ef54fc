import type { Slot } from '../../domain/slot.ts';
import { elements, elementsInTurns, members, text } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';

/** A part of a program's accounts: nodes have an index for those that compare the right bytes. */
export type ScanFilter =
  | { readonly dataSize: number }
  | { readonly memcmp: { readonly offset: number; readonly bytes: string } };

export interface ScanQuery {
  readonly filters: readonly ScanFilter[];
  /** The bytes of each account's data that are wanted. */
  readonly dataSlice: { readonly offset: number; readonly length: number };
  readonly minContextSlot: Slot | undefined;
}

/** Lists accounts of a program, confirmed; {@link scannedAccount} reads a row. It takes the node a long time. */
export async function scan(
  mesh: Pick<Mesh, 'call'>,
  program: string,
  query: ScanQuery,
): Promise<{ readonly slot: Slot; readonly rows: readonly Buffer[] }> {
  const config = { commitment: 'confirmed', encoding: 'base64', withContext: true, ...query } as const;
  const { slot, value } = await mesh.call('getProgramAccounts', [program, config], { commitment: 'confirmed' });
  return { slot, rows: await elementsInTurns(value) };
}

/** The address of a listed account, and the slice of its data. */
export function scannedAccount(row: Buffer): { readonly address: string; readonly data: Buffer } {
  const parts = members(row);
  const data = members(parts.get('account') ?? NOTHING).get('data') ?? NOTHING;
  return { address: text(parts.get('pubkey')), data: Buffer.from(text(elements(data)[0]), 'base64') };
}

const NOTHING = Buffer.alloc(0);
