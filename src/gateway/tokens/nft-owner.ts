import { nftOwnerOf } from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { type ReadOptions, readEncodedAccounts } from '../upstream/reads/encoded-accounts.ts';
import { readLargestTokenAccounts } from '../upstream/reads/largest-token-accounts.ts';

/** Reads the owner of the single token of a mint; undefined if none has it. Does not translate RPC errors. */
export async function readNftOwner(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const { slot, addresses } = await readLargestTokenAccounts(mesh, mint, options);
  const [largest] = addresses;
  if (largest === undefined) return undefined;
  const { accounts } = await readEncodedAccounts(mesh, [largest], { ...options, minContextSlot: slot });
  return nftOwnerOf(mint, accounts.get(largest) ?? null);
}
