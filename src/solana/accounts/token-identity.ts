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
export function tokenMetadataOf(address: string, mint: Mint, findAccount: FindAccount): TokenMetadata | null {
  const embedded = embeddedMetadataOf(address, mint);
  if (embedded !== null) {
    const { name, symbol, uri, updateAuthority } = embedded;
    return { name, symbol, uri, source: 'token-2022', updateAuthority, isMutable: updateAuthority !== null };
  }
  const metadataAccount = findAccount(findMetadataAddress(address));
  const metadata = metadataAccount && decodeMetadata(metadataAccount);
  if (metadata?.mint !== address) return null;
  const { name, symbol, uri, updateAuthority, isMutable } = metadata;
  return { name, symbol, uri, source: 'metaplex', updateAuthority, isMutable };
}

/** Returns the metadata in the mint itself; null if there is none, or another mint's. */
function embeddedMetadataOf(address: string, { extensions }: Mint) {
  const embedded = extensions.find((each) => each.extension === 'tokenMetadata')?.state;
  return embedded?.mint === address ? embedded : null;
}

/** Name and symbol of a token, as its creator wrote them. */
type TokenName = Pick<TokenMetadata, 'name' | 'symbol'>;

/** What tells one token from another. The mint and its Metaplex account are kept apart: each changes alone. */
export interface TokenIdentity {
  /** The address of the mint's Metaplex account, whether there is one or not. */
  readonly metadataAddress: string;
  readonly isNft: boolean;
  /** The name in the mint itself. */
  readonly embedded: TokenName | null;
  /** The name in the mint's Metaplex account; null where the mint itself has one, beside which it does not count. */
  readonly metaplex: TokenName | null;
}

/** Returns the part of an identity that the mint determines. */
export function identityInMint(address: string, mint: Mint): Pick<TokenIdentity, 'isNft' | 'embedded'> {
  const metadata = embeddedMetadataOf(address, mint);
  return { isNft: isNft(mint), embedded: metadata && nameIn(metadata) };
}

/** Returns the name in a mint's Metaplex account; null if that is none, or another mint's. */
export function nameInMetaplexAccount(mint: string, account: RawAccount | undefined): TokenName | null {
  const metadata = account && decodeMetadata(account);
  return metadata?.mint === mint ? nameIn(metadata) : null;
}

const nameIn = ({ name, symbol }: TokenName): TokenName => ({ name, symbol });

/** Returns true when two names are equal, or both absent. */
export const isSameName = (one: TokenName | null, other: TokenName | null): boolean =>
  one?.name === other?.name && one?.symbol === other?.symbol;

/** Returns a token's name: the one in the mint, else the one in its Metaplex account. */
export const tokenNameOf = (identity: TokenIdentity | undefined): TokenName | null =>
  identity?.embedded ?? identity?.metaplex ?? null;

/** Returns a mint's symbol: the known one, which nobody can forge, else the one in its metadata. */
export const tokenSymbolOf = (mint: string, metadata: TokenName | null): string | null =>
  knownMintSymbol(mint) ?? (metadata?.symbol || null);

/** Returns whether a mint is an indivisible single token. */
export const isNft = ({ decimals, supply }: Mint): boolean => decimals === 0 && supply === 1n;
