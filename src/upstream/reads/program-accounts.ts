import type { Slot } from '../../domain/slot.ts';
import { elements, elementsYielding, members, parseString } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

/** Filter of getProgramAccounts: nodes have an index for some (Solana RPC, secondary indexes). */
export type ProgramAccountsFilter =
  | { readonly dataSize: number }
  | { readonly memcmp: { readonly offset: number; readonly bytes: string } };

export interface ProgramAccountsQuery {
  readonly filters: readonly ProgramAccountsFilter[];
  /** Slice of each account's data that is returned. */
  readonly dataSlice: { readonly offset: number; readonly length: number };
  readonly minContextSlot: Slot | undefined;
}

/** Lists accounts of a program at `confirmed`; {@link parseProgramAccount} parses a row. The node needs long for it. */
export async function readProgramAccounts(
  rpc: RpcCaller,
  program: string,
  query: ProgramAccountsQuery,
): Promise<{ readonly slot: Slot; readonly rows: readonly Buffer[] }> {
  const config = { commitment: 'confirmed', encoding: 'base64', withContext: true, ...query } as const;
  const { slot, value } = await rpc.call('getProgramAccounts', [program, config], { commitment: 'confirmed' });
  return { slot, rows: await elementsYielding(value) };
}

/** Parses the address of a listed account and the slice of its data. */
export function parseProgramAccount(row: Buffer): { readonly address: string; readonly data: Buffer } {
  const parts = members(row);
  const data = members(parts.get('account') ?? NOTHING).get('data') ?? NOTHING;
  return { address: parseString(parts.get('pubkey')), data: Buffer.from(parseString(elements(data)[0]), 'base64') };
}

const NOTHING = Buffer.alloc(0);
