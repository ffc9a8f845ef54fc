import { type Address, address } from '@solana/web3.js';
import { findAssociatedTokenPda } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL as WRAPPED_SOL_MINT } from '../../solana/accounts/known-mints.ts';
import { COINS, type Coin, POOL, WALLETS } from './cast.ts';

/** What can be held in a token account. */
type Asset = Coin | typeof WRAPPED_SOL;

/** SOL as a token: its mint is part of Solana. */
export const WRAPPED_SOL = {
  mint: { address: address(WRAPPED_SOL_MINT) },
  program: address(TOKEN_PROGRAM),
  decimals: 9,
} as const;

/** Finds the associated token account of an owner. */
export type Holdings = (asset: Asset, owner: { readonly address: Address }) => Address;

let derived: Promise<Holdings> | undefined;

/** The token accounts of everybody who trades. Deriving one is slow, and they are the same on every chain. */
export function holdings(): Promise<Holdings> {
  derived ??= derive();
  return derived;
}

async function derive(): Promise<Holdings> {
  const found = new Map<string, Address>();
  for (const owner of [...WALLETS, POOL]) {
    for (const { mint, program } of [...COINS, WRAPPED_SOL]) {
      const [account] = await findAssociatedTokenPda({
        mint: mint.address,
        owner: owner.address,
        tokenProgram: program,
      });
      found.set(`${mint.address} ${owner.address}`, account);
    }
  }
  return ({ mint }, owner) => {
    const account = found.get(`${mint.address} ${owner.address}`);
    if (account === undefined) throw new Error(`nobody derived the token account of ${owner.address}`);
    return account;
  };
}
