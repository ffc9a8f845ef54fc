import { GatewayError } from '../domain/gateway-error.ts';
import { accountKindOf } from '../solana/accounts/account-kind.ts';
import { decodeTokenProgramAccount, type Mint } from '../solana/accounts/token-program-accounts.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { type MintScales, readMintScales } from './mint-scales.ts';

/** Reads one mint, and accounts beside it at the same slot. Throws `not_found` and `not_a_mint`. */
export async function requireMint(
  mesh: Mesh,
  address: string,
  at: ReadOptions,
  otherAddresses: readonly string[] = [],
): Promise<{ readonly slot: number; readonly mint: Mint; readonly mints: MintScales }> {
  const mints = await readMintScales(mesh, [address], at, otherAddresses);
  const mint = mints.mint(address);
  if (mint !== undefined) return { slot: Math.min(...mints.slots), mint, mints };
  const account = mints.accounts.get(address);
  if (account === undefined) throw new GatewayError('not_found', 'there is no account at this address');
  const token = decodeTokenProgramAccount(account);
  const kind = accountKindOf(account.owner, token === undefined ? null : token);
  throw new GatewayError('not_a_mint', `not a mint but an account of the kind ${kind}`);
}
