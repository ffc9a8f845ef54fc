import type { RawAccount } from '../codec/raw-account.ts';
import { knownMintSymbol } from './known-mints.ts';
import { decodeMetadata, findMetadataAddress } from './metaplex-metadata-account.ts';
import type { Mint } from './token-program-accounts.ts';

/** A mint's description of itself. Anybody may write any text there. */
export interface TokenMetadata {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly source: 'token-2022' | 'metaplex';
  readonly updateAuthority: string | null;
  /** Null if neither source says so. */
  readonly isMutable: boolean | null;
}

/** Returns an account by address; undefined for one that does not exist. */
type FindAccount = (address: string) => RawAccount | undefined;

/** Returns the metadata in the mint itself, else in its Metaplex account; null if there is neither. */
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

/** Returns a mint's symbol: the known one, which nobody can forge, else the one in its metadata. */
export const tokenSymbolOf = (mint: string, metadata: TokenMetadata | null): string | null =>
  knownMintSymbol(mint) ?? (metadata?.symbol || null);

/** Returns whether a mint is an indivisible single token. */
export const isNft = ({ decimals, supply }: Mint): boolean => decimals === 0 && supply === 1n;
