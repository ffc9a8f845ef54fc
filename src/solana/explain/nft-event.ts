import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { NftInterpretation, NftTransferInterpretation } from '../analysis/interpretation.ts';
import type { Nft } from '../analysis/nft-asset.ts';
import { KNOWN_PROGRAMS } from '../programs/known-programs.ts';

/** What was done to NFTs: `events.nft`. What is unknown is null. */
export interface NftEvent {
  readonly nfts: readonly Nft[];
  /** Whoever sold, listed or gave away. */
  readonly seller: string | null;
  /** Whoever bought, bid or got it. */
  readonly buyer: string | null;
  /** The price in smallest units: what a buyer paid in all, what is asked or bid, or what a mint cost. */
  readonly amount: string | null;
  /** The mint of the price; null for SOL in either form, and where there is no price. */
  readonly currencyMint: string | null;
  /** Helius' name of the marketplace, or its id. */
  readonly marketplace: string | null;
  /** What creators got of the price. */
  readonly royalties: readonly { readonly account: string; readonly amount: string }[] | null;
}

const MARKET_TYPES: readonly string[] = [
  'NFT_SALE',
  'NFT_LISTING',
  'NFT_CANCEL_LISTING',
  'NFT_BID',
  'NFT_BID_CANCELLED',
];

export function nftEventOf(interpretation: NftInterpretation | NftTransferInterpretation): NftEvent {
  const { nfts, program, type } = interpretation;
  const marketplace =
    program !== null && MARKET_TYPES.includes(type) ? (KNOWN_PROGRAMS.get(program)?.source ?? program) : null;
  if (type === 'NFT_TRANSFER') {
    const unknown = { seller: null, buyer: null, amount: null, currencyMint: null, marketplace, royalties: null };
    return { nfts, ...unknown };
  }
  const { seller, buyer, price, royalties } = interpretation;
  return {
    nfts,
    seller,
    buyer,
    amount: price === null ? null : `${price.amount}`,
    currencyMint: price === null || price.mint === WRAPPED_SOL ? null : price.mint,
    marketplace,
    royalties: royalties?.map(({ account, amount }) => ({ account, amount: `${amount}` })) ?? null,
  };
}

/** Returns whether an interpretation is about NFTs. */
export const isAboutNfts = (interpretation: {
  readonly type: string;
}): interpretation is NftInterpretation | NftTransferInterpretation => /NFT/.test(interpretation.type);
