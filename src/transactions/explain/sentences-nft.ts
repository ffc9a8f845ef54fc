import type { NftInterpretation, NftTransferInterpretation } from '../analysis/interpretation.ts';
import type { Nft } from '../analysis/nft-asset.ts';
import { programPhrase } from './program-phrase.ts';
import {
  type FormatAddress,
  formatAmount,
  formatAmounts,
  formatSol,
  joinPhrases,
  tokenName,
} from './sentence-formats.ts';
import { describePayments, moverOf } from './sentences-movement.ts';
import { filledIn, wordsOf } from './words.ts';

/** Describes an NFT that changed owners, and in exchange for what. */
export function describeNftTransfer(
  { program, swap, payments }: NftTransferInterpretation,
  formatAddress: FormatAddress,
): string {
  if (swap === null || swap.wallet === null) return describePayments(payments, 'sent', formatAddress).join('; ');
  const [given, got] = [swap.inputs, swap.outputs].map((legs) => formatAmounts(legs, formatAddress));
  return `${formatAddress(swap.wallet)} gave ${given} and got ${got}${programPhrase(program, 'on', formatAddress)}`;
}

/** What was done to NFTs in words. */
const DEEDS = wordsOf('nfts');

/** Describes what was done to NFTs. */
export function describeNft(interpretation: NftInterpretation, formatAddress: FormatAddress): string {
  const { type, actor, program, seller, buyer, mover, price, refund } = interpretation;
  if (type === 'NFT_SALE') return describeSale(interpretation, formatAddress);
  const amount = price === null ? null : formatAmount(price, formatAddress);
  const giver = moverOf(seller ?? actor, mover, formatAddress);
  return filledIn(DEEDS.get(type) ?? '', {
    who: formatAddress(actor),
    giver: giver.who,
    taker: buyer === null ? 'several accounts' : formatAddress(buyer),
    receiver: buyer === null || buyer === actor ? '' : ` to ${formatAddress(buyer)}`,
    nfts: `${formatNfts(interpretation, formatAddress)}${giver.ofWallet}`,
    bid: amount === null ? 'made a bid' : `bid ${amount}`,
    cost: amount === null ? '' : ` for ${amount}`,
    returned: refund === 0n ? '' : ` and got back ${formatSol(refund)} of rent`,
    venue: programPhrase(program, 'on', formatAddress),
    tool: programPhrase(program, 'with', formatAddress),
  });
}

/** Describes a sale from the side of its actor, and how the price was shared. */
function describeSale(interpretation: NftInterpretation, formatAddress: FormatAddress): string {
  const { actor, program, seller, buyer, price, proceeds } = interpretation;
  const nfts = formatNfts(interpretation, formatAddress);
  const venue = programPhrase(program, 'on', formatAddress);
  const cost = price === null ? '' : ` for ${formatAmount(price, formatAddress)}`;
  const isSeller = seller !== null && actor !== buyer && (actor === seller || buyer === null); // who may sell to several
  const party = isSeller ? buyer : seller;
  const other = party === null ? '' : ` ${isSeller ? 'to' : 'from'} ${formatAddress(party)}`;
  const shares = describeShares(interpretation, formatAddress);
  if (!isSeller) {
    const verb = buyer === null ? 'had' : 'bought';
    return `${formatAddress(buyer ?? actor)} ${verb} ${nfts}${verb === 'had' ? ' sold' : ''}${other}${cost}${venue}${shares}`;
  }
  if (price === null && proceeds !== null)
    return `${formatAddress(seller)} sold ${nfts}${other}${venue} and received ${formatAmount(proceeds, formatAddress)}`;
  return `${formatAddress(seller)} sold ${nfts}${other}${cost}${venue}${shares}`;
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
