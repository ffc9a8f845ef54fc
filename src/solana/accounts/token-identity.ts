import type { RawAccount } from '../codec/raw-account.ts';
import { knownMintSymbol } from './known-mints.ts';
import { decodeMetadata, findMetadataAddress } from './metaplex-metadata-account.ts';
import type { Mint } from './token-program-accounts.ts';

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
type FindAccount = (address: string) => RawAccount | undefined;

/** What is written in the mint itself, else in the account that Metaplex keeps beside it; null when in neither. */
export function tokenMetadataOf(mint: string, { extensions }: Mint, findAccount: FindAccount): TokenMetadata | null {
  const embedded = extensions.find((each) => each.extension === 'tokenMetadata')?.state;
  if (embedded !== undefined && embedded.mint === mint) {
    const { name, symbol, uri, updateAuthority } = embedded;
    return { name, symbol, uri, source: 'token-2022', updateAuthority, isMutable: updateAuthority !== null };
  }
  const metadataAccount = findAccount(findMetadataAddress(mint));
  const metadata = metadataAccount && decodeMetadata(metadataAccount);
  if (metadata?.mint !== mint) return null;
  const { name, symbol, uri, updateAuthority, isMutable } = metadata;
  return { name, symbol, uri, source: 'metaplex', updateAuthority, isMutable };
}

/** The sign of a mint: that of a well-known one, which nobody can forge, else what it says itself. */
export const tokenSymbolOf = (mint: string, metadata: TokenMetadata | null): string | null =>
  knownMintSymbol(mint) ?? (metadata?.symbol || null);

/** True for a mint of one thing that can't be divided. */
export const isNft = ({ decimals, supply }: Mint): boolean => decimals === 0 && supply === 1n;
