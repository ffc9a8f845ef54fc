import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { findProgramAddress } from '../accounts/program-derived-address.ts';
import { decodeKey } from '../codec/base58-key.ts';

const LABELS: ReadonlyMap<string, string> = new Map(
  readTables(new URL('data/known-owners.tsv', import.meta.url), 'owners').flatMap(({ rows }) =>
    rows.map(([address = '', label = '']) => [address, label] as const),
  ),
);

const PUMP_FUN_PROGRAM = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';

/** Returns the function that labels owners of a mint's token accounts: burn addresses and vaults of known programs. */
export function ownerLabelsOf(mint: string): (owner: string) => string | null {
  const key = decodeKey(mint);
  const curve = key && findProgramAddress(PUMP_FUN_PROGRAM, ['bonding-curve', key]); // each mint has its own
  return (owner) => (owner === curve ? 'Pump.fun bonding curve' : (LABELS.get(owner) ?? null));
}
