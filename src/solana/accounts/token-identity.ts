import type { StoredAccount } from '../codec/stored-account.ts';
import { mintSymbol } from './known-mints.ts';
import { decodeMetadata, metadataAddress } from './metadata.ts';
import type { Mint } from './token.ts';

/** What a mint says of itself. Anybody may write anything there. */
export interface TokenMetadata {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly source: 'token-2022' | 'metaplex';
  readonly updateAuthority: string | null;
  /** Null where nothing says so. */
  readonly isMutable: boolean | null;
}

/** Reads accounts by address; undefined for one that does not exist. */
type Stored = (address: string) => StoredAccount | undefined;

/** What is written in the mint itself, else in the account that Metaplex keeps beside it; null when in neither. */
export function tokenMetadata(mint: string, { extensions }: Mint, stored: Stored): TokenMetadata | null {
  const own = extensions.find((each) => each.extension === 'tokenMetadata')?.state;
  if (own !== undefined && own.mint === mint) {
    const { name, symbol, uri, updateAuthority } = own;
    return { name, symbol, uri, source: 'token-2022', updateAuthority, isMutable: updateAuthority !== null };
  }
  const beside = stored(metadataAddress(mint));
  const metadata = beside && decodeMetadata(beside);
  if (metadata?.mint !== mint) return null;
  const { name, symbol, uri, updateAuthority, isMutable } = metadata;
  return { name, symbol, uri, source: 'metaplex', updateAuthority, isMutable };
}

/** The sign of a mint: that of a well-known one, which nobody can forge, else what it says itself. */
export const tokenSymbol = (mint: string, metadata: TokenMetadata | null): string | null =>
  mintSymbol(mint) ?? (metadata?.symbol || null);

/** True for a mint of one thing that can't be divided. */
export const isNft = ({ decimals, supply }: Mint): boolean => decimals === 0 && supply === 1n;
