import { type Address, address } from '@solana/web3.js';
import { WRAPPED_SOL as WRAPPED_SOL_MINT } from '../../shared/domain/known-mints.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { findAssociatedTokenAddress } from '../../transactions/index.ts';
import type { Coin } from './demo-accounts.ts';

/** Wrapped SOL, whose mint is part of Solana. */
export const WRAPPED_SOL = {
  mint: { address: address(WRAPPED_SOL_MINT) },
  program: address(TOKEN_PROGRAM),
  decimals: 9,
} as const;

/** The accounts that were derived. Derivation is slow, and the result is the same on every chain, so it is done once. */
const derived = new Map<string, Address>();

export function tokenAccountOf(
  { mint, program }: Coin | typeof WRAPPED_SOL,
  owner: { readonly address: Address },
): Address {
  const key = `${mint.address} ${owner.address}`;
  const known = derived.get(key);
  if (known !== undefined) return known;
  const name = program === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const account = address(findAssociatedTokenAddress(owner.address, mint.address, name));
  derived.set(key, account);
  return account;
}
