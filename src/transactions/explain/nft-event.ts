import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { NftInterpretation, NftTransferInterpretation } from '../analysis/interpretation.ts';
import type { Nft } from '../analysis/nft-asset.ts';
import { MARKET_TYPES } from '../analysis/rules/nft.ts';
import { KNOWN_PROGRAMS } from '../programs/known-programs.ts';

/** What was done to NFTs: `events.nft`. What is unknown is null. */
export interface NftEvent {
  readonly nfts: readonly Nft[];
  /** The wallet that sold, listed or gave away. */
  readonly seller: string | null;
  /** The wallet that bought, bid or got it. */
  readonly buyer: string | null;
  /** The price in smallest units: what a buyer paid in all, what a listing or a bid names, or what a mint cost. */
  readonly amount: string | null;
  /** The mint of the price; null for SOL in either form, and where there is no price. */
  readonly currencyMint: string | null;
  /** Helius' name of the marketplace, or its id. */
  readonly marketplace: string | null;
  /** What creators got of the price. */
  readonly royalties: readonly { readonly account: string; readonly amount: string }[] | null;
}

export function nftEventOf(interpretation: NftInterpretation | NftTransferInterpretation): NftEvent {
  const { nfts, program, type } = interpretation;
  if (type === 'NFT_TRANSFER')
    return { nfts, seller: null, buyer: null, amount: null, currencyMint: null, marketplace: null, royalties: null };
  const { seller, buyer, price, royalties } = interpretation;
  const sourceName = KNOWN_PROGRAMS.get(program ?? '')?.source ?? program;
  return {
    nfts,
    seller,
    buyer,
    amount: price === null ? null : `${price.amount}`,
    currencyMint: price === null || price.mint === WRAPPED_SOL ? null : price.mint,
    marketplace: MARKET_TYPES.includes(type) ? sourceName : null,
    royalties: royalties?.map(({ account, amount }) => ({ account, amount: `${amount}` })) ?? null,
  };
}
