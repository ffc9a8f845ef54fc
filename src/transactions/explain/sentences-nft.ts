import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { Interpreted, NftInterpretation, NftTransferInterpretation } from '../analysis/interpretation.ts';
import type { Nft } from '../analysis/nft-asset.ts';
import { isNftAmount } from '../analysis/payments.ts';
import { programPhrase } from './program-phrase.ts';
import {
  type FormatAddress,
  formatAmount,
  formatAmounts,
  formatSol,
  joinPhrases,
  tokenName,
} from './sentence-formats.ts';
import { describeTransfer } from './sentences-movement.ts';

/** Describes an NFT that changed owners, and in exchange for what. */
export function describeNftTransfer(
  interpretation: Interpreted<NftTransferInterpretation>,
  formatAddress: FormatAddress,
): string {
  const { actor, program, swap, payments, gained } = interpretation;
  const venue = programPhrase(program, 'on', formatAddress);
  if (swap !== null && swap.wallet !== null) {
    const [given, got] = [swap.inputs, swap.outputs].map((legs) => formatAmounts(legs, formatAddress));
    return `${formatAddress(swap.wallet)} gave ${given} and got ${got}${venue}`;
  }
  const [transferred] = payments.filter(isNftAmount);
  const received = gained.filter(({ mint }) => mint === WRAPPED_SOL);
  if (transferred !== undefined && program !== null && received.length > 0)
    return `${formatAmount(transferred, formatAddress).replace(/^t/, 'T')} went to ${formatAddress(transferred.to)}${venue}, and ${formatAddress(actor)} received ${formatAmounts(received, formatAddress)}`;
  return describeTransfer(interpretation, formatAddress);
}

/** Describes what was done to NFTs. */
export function describeNft(interpretation: NftInterpretation, formatAddress: FormatAddress): string {
  const { type, actor, program, seller, buyer, price, refund } = interpretation;
  const nfts = formatNfts(interpretation, formatAddress);
  const venue = programPhrase(program, 'on', formatAddress);
  const tool = programPhrase(program, 'with', formatAddress);
  const cost = price === null ? '' : ` for ${formatAmount(price, formatAddress)}`;
  const who = formatAddress(actor);
  switch (type) {
    case 'NFT_SALE':
      return describeSale(interpretation, formatAddress);
    case 'NFT_LISTING':
      return `${who} listed ${nfts}${cost}${venue}`;
    case 'NFT_CANCEL_LISTING':
      return `${who} took back the listing of ${nfts}${venue}`;
    case 'NFT_BID':
      return price === null
        ? `${who} made a bid for ${nfts}${venue}`
        : `${who} bid ${formatAmount(price, formatAddress)} for ${nfts}${venue}`;
    case 'NFT_BID_CANCELLED':
      return `${who} took back a bid for ${nfts}${venue}`;
    case 'NFT_MINT':
    case 'COMPRESSED_NFT_MINT': {
      const receiver = buyer === null || buyer === actor ? '' : ` to ${formatAddress(buyer)}`;
      return `${who} minted ${nfts}${receiver}${cost}${tool}`;
    }
    case 'COMPRESSED_NFT_TRANSFER':
      return `${formatAddress(seller ?? actor)} sent ${nfts} to ${buyer === null ? 'several accounts' : formatAddress(buyer)}${tool}`;
    case 'BURN_NFT':
    case 'COMPRESSED_NFT_BURN': {
      const returned = refund === 0n ? '' : ` and got back ${formatSol(refund)} of rent`;
      return `${formatAddress(seller ?? actor)} burned ${nfts}${returned}${tool}`;
    }
  }
}

/** Describes a sale from the side of its actor, and how the price was shared. */
function describeSale(interpretation: NftInterpretation, formatAddress: FormatAddress): string {
  const { actor, program, seller, buyer, price, proceeds } = interpretation;
  const nfts = formatNfts(interpretation, formatAddress);
  const venue = programPhrase(program, 'on', formatAddress);
  const cost = price === null ? '' : ` for ${formatAmount(price, formatAddress)}`;
  const isSeller = actor === seller && actor !== buyer;
  const party = isSeller ? buyer : seller;
  const other = party === null ? '' : ` ${isSeller ? 'to' : 'from'} ${formatAddress(party)}`;
  const shares = describeShares(interpretation, formatAddress);
  if (!isSeller) {
    const verb = buyer === null && seller === null ? 'had' : 'bought';
    return `${formatAddress(buyer ?? actor)} ${verb} ${nfts}${verb === 'had' ? ' sold' : ''}${other}${cost}${venue}${shares}`;
  }
  if (price === null && proceeds !== null)
    return `${formatAddress(actor)} sold ${nfts}${other}${venue} and received ${formatAmount(proceeds, formatAddress)}`;
  return `${formatAddress(actor)} sold ${nfts}${other}${cost}${venue}${shares}`;
}

/** Returns `, of which the seller got 1.9995 SOL, creators 0.1075 SOL and the marketplace 0.043 SOL`, if not all is the seller's. */
function describeShares({ price, proceeds, royalties }: NftInterpretation, formatAddress: FormatAddress): string {
  if (price === null || proceeds === null || proceeds.amount >= price.amount) return '';
  const format = (amount: bigint): string => formatAmount({ ...price, amount }, formatAddress);
  const creators = royalties?.reduce((sum, { amount }) => sum + amount, 0n) ?? null;
  const rest = price.amount - proceeds.amount - (creators ?? 0n);
  const parts = [`the seller got ${formatAmount(proceeds, formatAddress)}`];
  if (creators !== null && creators > 0n) parts.push(`creators ${format(creators)}`);
  if (rest > 0n) parts.push(`${creators === null ? 'others' : 'the marketplace'} ${format(rest)}`);
  return `, of which ${joinPhrases(parts)}`;
}

/** Returns `the NFT 7xKX…gAsU`, `an NFT` or `3 compressed NFTs`. */
function formatNfts({ type, nfts }: Pick<NftInterpretation, 'type' | 'nfts'>, formatAddress: FormatAddress): string {
  const kind = type.startsWith('COMPRESSED') ? 'compressed NFT' : 'NFT';
  const known = nfts.flatMap(({ mint }: Nft) => mint ?? []);
  if (nfts.length === 0 || (nfts.length === 1 && known.length === 0)) return `${kind === 'NFT' ? 'an' : 'a'} ${kind}`;
  return nfts.length > 2 || known.length < nfts.length
    ? `${nfts.length} ${kind}s`
    : known.map((mint) => `the ${kind} ${tokenName(mint, formatAddress) ?? formatAddress(mint)}`).join(' and ');
}
