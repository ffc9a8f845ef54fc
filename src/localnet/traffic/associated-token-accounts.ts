import { type Address, address } from '@solana/web3.js';
import { findAssociatedTokenPda } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL as WRAPPED_SOL_MINT } from '../../solana/accounts/known-mints.ts';
import { COINS, type Coin, POOL, WALLETS } from './demo-accounts.ts';

/** Token that a token account can contain. */
type TokenAsset = Coin | typeof WRAPPED_SOL;

/** Wrapped SOL, whose mint is part of Solana. */
export const WRAPPED_SOL = {
  mint: { address: address(WRAPPED_SOL_MINT) },
  program: address(TOKEN_PROGRAM),
  decimals: 9,
} as const;

/** Returns the associated token account of an owner. */
export type TokenAccountFinder = (asset: TokenAsset, owner: { readonly address: Address }) => Address;

/** Token account by mint and owner. */
type TokenAccountAddresses = ReadonlyMap<string, Address>;

let derivedAddresses: Promise<TokenAccountAddresses> | undefined;

/**
 * Derives the token accounts of all wallets and the pool. Derivation is slow, and the result is the same on every
 * chain, so it is done once.
 */
export function deriveTokenAccounts(): Promise<TokenAccountAddresses> {
  derivedAddresses ??= derive();
  return derivedAddresses;
}

async function derive(): Promise<TokenAccountAddresses> {
  const addresses = new Map<string, Address>();
  for (const owner of [...WALLETS, POOL]) {
    for (const { mint, program } of [...COINS, WRAPPED_SOL]) {
      const [account] = await findAssociatedTokenPda({
        mint: mint.address,
        owner: owner.address,
        tokenProgram: program,
      });
      addresses.set(`${mint.address} ${owner.address}`, account);
    }
  }
  return addresses;
}

/** Creates the look-up of derived token accounts. */
export function tokenAccountFinder(addresses: TokenAccountAddresses): TokenAccountFinder {
  return ({ mint }, owner) => {
    const account = addresses.get(`${mint.address} ${owner.address}`);
    if (account === undefined) throw new Error(`no token account was derived for ${owner.address}`);
    return account;
  };
}
