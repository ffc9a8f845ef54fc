import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { NftInterpretation, NftTransferInterpretation } from '../analysis/interpretation.ts';
import type { Nft } from '../analysis/nft-asset.ts';
import { isNftAmount, type Payment } from '../analysis/payments.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAmount, formatAmounts, formatSol, tokenName } from './sentence-formats.ts';
import { describeTransfer } from './sentences-movement.ts';

/** Describes an NFT that changed owners, and in exchange for what. */
export function describeNftTransfer(interpretation: NftTransferInterpretation, formatAddress: FormatAddress): string {
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
  return describeReceivers(interpretation, formatAddress) ?? describeTransfer(interpretation, formatAddress);
}

/** Most receivers that a sentence names. */
const MAX_RECEIVERS = 3;

/** Tells who got what from one sender; null if there are several senders, or one receiver or many. */
function describeReceivers(
  { payments, program }: NftTransferInterpretation,
  formatAddress: FormatAddress,
): string | null {
  const byReceiver = new Map<string, Payment[]>();
  for (const payment of payments) {
    const group = byReceiver.get(payment.to);
    if (group === undefined) byReceiver.set(payment.to, [payment]);
    else group.push(payment);
  }
  const [sender, ...others] = new Set(payments.map(({ from }) => from));
  if (sender === undefined || others.length > 0 || byReceiver.size < 2 || byReceiver.size > MAX_RECEIVERS) return null;
  const parts = [...byReceiver].map(
    ([to, group]) => `${formatAmounts(group, formatAddress)} to ${to === sender ? 'itself' : formatAddress(to)}`,
  );
  const via = programPhrase(program, 'through', formatAddress);
  return `${formatAddress(sender)} sent ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}${via}`;
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

/** Tells a sale from the side of who acted, and what became of the price. */
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
  return `, of which ${parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`}`;
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
