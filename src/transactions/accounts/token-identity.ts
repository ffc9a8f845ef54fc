import { cutText, cutToBytes } from '../../shared/domain/cut-text.ts';
import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import { MAX_NAME_CHARACTERS, MAX_SYMBOL_CHARACTERS } from '../../shared/domain/quoted-name.ts';
import { isAddress } from '../codec/base58.ts';
import type { RawAccount } from '../codec/raw-account.ts';
import { decodeMetadata, findMetadataAddress, type MetaplexMetadata } from './metaplex-metadata-account.ts';
import { extensionState, type TokenExtension } from './token-extensions.ts';
import { decodeTokenProgramAccount, type Mint } from './token-program-accounts.ts';

/** The most bytes of a text that a mint's description of itself is given with. */
const MAX_TEXT_BYTES = 4096;

const wholeText = (text: string): string => cutToBytes(text, MAX_TEXT_BYTES);

const wholeTexts = ({ name, symbol, uri }: Pick<TokenMetadata, 'name' | 'symbol' | 'uri'>) => ({
  name: wholeText(name),
  symbol: wholeText(symbol),
  uri: wholeText(uri),
});

/** A mint's description of itself. Anybody may write any text there, of which the first 4 KiB are given. */
export interface TokenMetadata {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly source: 'token-2022' | 'metaplex';
  readonly updateAuthority: string | null;
  /** Null if neither source says so. */
  readonly isMutable: boolean | null;
  /** The share of a sale that creators claim, in hundredths of a percent; null if the source doesn't say. */
  readonly sellerFeeBasisPoints: number | null;
  /** The receivers of the royalties; null if the source names none. */
  readonly creators: readonly TokenCreator[] | null;
  /** The mint of the collection, or of the group of a Token-2022 mint, that the token belongs to. */
  readonly collection: { readonly key: string; readonly verified: boolean } | null;
  /** Metaplex' token standard; null for accounts older than that, and for other sources. */
  readonly tokenStandard: MetaplexMetadata['tokenStandard'];
  /** Null if the source doesn't say. */
  readonly primarySaleHappened: boolean | null;
}

interface TokenCreator {
  readonly address: string;
  /** In percent. */
  readonly share: number;
  /** Whether the creator signed; null where there is no such thing. */
  readonly verified: boolean | null;
}

/** Returns an account by address; undefined for one that does not exist. */
type FindAccount = (address: string) => RawAccount | undefined;

/** Returns the metadata in the mint itself, else in its Metaplex account; null if there is neither. */
export function tokenMetadataOf(address: string, mint: Mint, findAccount: FindAccount): TokenMetadata | null {
  const group = groupOf(address, mint);
  const embedded = embeddedMetadataOf(address, mint);
  if (embedded !== null) {
    const { updateAuthority, additionalMetadata } = embedded;
    return {
      ...wholeTexts(embedded),
      source: 'token-2022',
      updateAuthority,
      isMutable: updateAuthority !== null,
      ...royaltiesIn(additionalMetadata),
      collection: group,
      tokenStandard: null,
      primarySaleHappened: null,
    };
  }
  const metadataAccount = findAccount(findMetadataAddress(address));
  const metadata = metadataAccount && decodeMetadata(metadataAccount);
  if (metadata?.mint !== address) return null;
  const { updateAuthority, isMutable, sellerFeeBasisPoints, creators } = metadata;
  const { collection, tokenStandard, primarySaleHappened } = metadata;
  return {
    ...wholeTexts(metadata),
    source: 'metaplex',
    updateAuthority,
    isMutable,
    sellerFeeBasisPoints,
    creators: creators?.map(({ address, share, verified }) => ({ address, share, verified })) ?? null,
    collection: collection === null ? group : { key: collection.key, verified: collection.verified },
    tokenStandard,
    primarySaleHappened,
  };
}

/** Returns an extension with its texts cut to the length that they are given with. */
export function withBoundedTexts(each: TokenExtension): TokenExtension {
  const metadata = extensionState([each], 'tokenMetadata');
  if (metadata === undefined) return each;
  const fields = metadata.additionalMetadata.map(([field, value]) => [wholeText(field), wholeText(value)] as const);
  return { ...each, state: { ...metadata, ...wholeTexts(metadata), additionalMetadata: fields } };
}

/** Returns the group of a Token-2022 mint. It is verified: nobody joins a group without its authority's signature. */
function groupOf(address: string, { extensions }: Mint): TokenMetadata['collection'] {
  const member = extensionState(extensions, 'tokenGroupMember');
  return member?.mint === address ? { key: member.group, verified: true } : null;
}

/** The field of a mint's own metadata in which the Wen New Standard stores the royalties; creators stand beside it. */
const ROYALTY_FIELD = 'royalty_basis_points';

/**
 * Reads royalties as the Wen New Standard writes them in a mint's own metadata: basis points, then each creator's share
 * in percent by address. https://github.com/wen-community/wen-program-library
 */
function royaltiesIn(fields: readonly (readonly [name: string, value: string])[]) {
  const sellerFeeBasisPoints = wholeNumberUpTo(10_000, fields.find(([name]) => name === ROYALTY_FIELD)?.[1]);
  if (sellerFeeBasisPoints === null) return { sellerFeeBasisPoints: null, creators: null };
  const creators = fields.flatMap(([address, value]): TokenCreator[] => {
    const share = wholeNumberUpTo(100, value);
    return share === null || !isAddress(address) ? [] : [{ address, share, verified: null }];
  });
  return { sellerFeeBasisPoints, creators };
}

function wholeNumberUpTo(most: number, digits: string | undefined): number | null {
  const value = digits !== undefined && /^\d{1,5}$/.test(digits) ? Number(digits) : Number.NaN;
  return value <= most ? value : null;
}

/** Returns the metadata in the mint itself; null if there is none, or another mint's. */
function embeddedMetadataOf(address: string, { extensions }: Mint) {
  const embedded = extensionState(extensions, 'tokenMetadata');
  return embedded?.mint === address ? embedded : null;
}

/** Name and symbol of a token as its creator wrote them, cut to what a list shows. */
type TokenName = Pick<TokenMetadata, 'name' | 'symbol'>;

/** What distinguishes a token from others. The mint and its Metaplex account are separate: each changes alone. */
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

const nameIn = ({ name, symbol }: TokenName): TokenName => ({
  name: cutText(name, MAX_NAME_CHARACTERS),
  symbol: cutText(symbol, MAX_SYMBOL_CHARACTERS),
});

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

/**
 * Returns the owner of an NFT, such as a wrapped .sol name, from the largest token account of its mint; undefined if that
 * account does not hold the single token.
 */
export function nftOwnerOf(mint: string, account: RawAccount | null): string | undefined {
  const tokenAccount = account === null ? undefined : decodeTokenProgramAccount(account);
  return tokenAccount?.type === 'account' && tokenAccount.mint === mint && tokenAccount.amount === 1n
    ? tokenAccount.owner
    : undefined;
}
