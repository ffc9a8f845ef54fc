import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { accountKindOf, decodeTokenProgramAccount, type Mint } from '../../transactions/index.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { type MintScales, readMintScales } from './mint-scales.ts';

export async function requireMint(
  mesh: Pick<Mesh, 'call'>,
  address: string,
  at: ReadOptions,
  otherAddresses: readonly string[] = [],
): Promise<{ readonly slot: Slot; readonly mint: Mint; readonly mints: MintScales }> {
  const mints = await readMintScales(mesh, [address], at, otherAddresses);
  const mint = mints.mint(address);
  if (mint !== undefined) return { slot: Math.min(...mints.slots), mint, mints };
  const account = mints.accounts.get(address);
  if (account === undefined) throw new GatewayError('not_found', 'there is no account at this address');
  const token = decodeTokenProgramAccount(account);
  const kind = accountKindOf(account.owner, token === undefined ? null : token);
  throw new GatewayError('not_a_mint', `this account is not a mint: its kind is ${kind}`);
}
