import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import type { TokenLabel } from '../accounts/token-label.ts';
import type { AssetAmount } from '../analysis/asset-amount.ts';
import { isNftAmount, sumByMint } from '../analysis/payments.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import { quotedWords, withInertLinks } from '../errors/quoted-words.ts';

/** Formats an address in a sentence. */
export interface FormatAddress {
  (address: string): string;
  /** Returns what a token that isn't among the best-known ones is called; undefined if that isn't known. */
  readonly labelOf?: (mint: string) => TokenLabel | undefined;
}

/** Returns what stands where an address or a name is due: in quotation marks unless it is one word. */
export const wordOrQuoted = (text: string): string =>
  /^\w{1,64}$/.test(text) ? text : (quotedWords(text) ?? 'somebody');

/** Returns the whole address, for programs. */
export const fullAddress: FormatAddress = (address) => wordOrQuoted(address);

/** Returns `7xKX…gAsU`, for people. */
export const shortAddress: FormatAddress = (address) => {
  const shown = wordOrQuoted(address);
  return shown.length > 12 && shown === address ? `${address.slice(0, 4)}…${address.slice(-4)}` : shown;
};

/** Returns a formatter as {@link shortAddress}, which shows the whole of an address that looks there as an earlier one does. */
export function shortAddresses(...earlier: readonly string[]): FormatAddress {
  const shown = new Map(earlier.map((address) => [shortAddress(address), address]));
  return (address) => {
    const short = shortAddress(address);
    const first = shown.get(short) ?? address;
    shown.set(short, first);
    return first === address ? short : fullAddress(address);
  };
}

/** What a sentence from the view of a wallet calls it. */
export const YOU = 'you';

/** Returns an owner behind what it owns: `5 USDC of 7xKX…gAsU`, `5 USDC of yours`. */
export function ofOwner(address: string, formatAddress: FormatAddress): string {
  const owner = formatAddress(address);
  return owner === YOU ? ' of yours' : ` of ${owner}`;
}

/** Returns the symbol of a token, or its name: `WIF`, `“A dog”`, `“USDC” (A9mU…i3FM)` where that may be another one. */
export function tokenName(mint: string, formatAddress: FormatAddress): string | null {
  const symbol = knownMintSymbol(mint);
  if (symbol !== null) return symbol;
  const label = formatAddress.labelOf?.(mint);
  if (label === undefined) return null;
  const text = withInertLinks(label.text);
  return label.isAmbiguous ? `${text} (${shortAddress(mint)})` : text;
}

/** Returns `1.5 SOL`, `2 of the token 7xKX…gAsU` or `the NFT 7xKX…gAsU`. */
export function formatAmount({ mint, amount, decimals }: AssetAmount, formatAddress: FormatAddress): string {
  const name = tokenName(mint, formatAddress);
  if (knownMintSymbol(mint) === null && isNftAmount({ amount, decimals }))
    return `the NFT ${name ?? formatAddress(mint)}`;
  return name === null
    ? `${formatNumber(amount, decimals)} of the token ${formatAddress(mint)}`
    : `${formatNumber(amount, decimals)} ${name}`;
}

/** Returns every digit, unless a mint has too many decimals to read. */
export const formatNumber = (amount: bigint, decimals: number): string =>
  decimals > 18 ? `${amount} smallest units` : formatUnits(amount, decimals);

/** Most NFTs of which each is named. */
const MAX_NFTS = 2;

/** Lists amounts, the largest first; NFTs beyond a bound are counted: `0.1 SOL and 6 NFTs`. */
export function formatAmounts(amounts: readonly AssetAmount[], formatAddress: FormatAddress): string {
  const sums = sumByMint(amounts).toSorted(bySize);
  const isNft = (sum: AssetAmount): boolean => isNftAmount(sum) && knownMintSymbol(sum.mint) === null;
  const [nfts, tokens] = [sums.filter(isNft), sums.filter((sum) => !isNft(sum))];
  const named = tokens.map((sum) => formatAmount(sum, formatAddress));
  const collectibles =
    nfts.length > MAX_NFTS ? [`${nfts.length} NFTs`] : nfts.map((sum) => formatAmount(sum, formatAddress));
  return joinPhrases([...named, ...collectibles]);
}

/** Compares amounts for a list with the largest first; those of the best-known tokens go before those of others. */
export function bySize(a: AssetAmount, b: AssetAmount): number {
  const [known, otherKnown] = [a, b].map(({ mint }) => Number(knownMintSymbol(mint) !== null));
  const [size = 0, otherSize = 0] = [a, b].map(({ amount, decimals }) => Number(amount) / 10 ** decimals);
  return (otherKnown ?? 0) - (known ?? 0) || otherSize - size;
}

/** Joins phrases: `a`, `a and b`, `a, b and c`. */
export const joinPhrases = (parts: readonly string[]): string =>
  parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** Formats the amounts of flows that have some, each after its verb: `sent 1 SOL and received 2 USDC`. */
export const formatFlows = (
  flows: Readonly<Record<string, readonly AssetAmount[]>>,
  formatAddress: FormatAddress,
): string =>
  Object.entries(flows)
    .filter(([, amounts]) => amounts.length > 0)
    .map(([verb, amounts]) => `${verb} ${formatAmounts(amounts, formatAddress)}`)
    .join(' and ');

/** Names one account, counts several: `7xKX…gAsU`, `3 accounts`. */
export const formatAccounts = (addresses: ReadonlySet<string>, formatAddress: FormatAddress): string =>
  addresses.size === 1 ? formatAddress([...addresses][0] ?? '') : `${addresses.size} accounts`;

export const formatSol = (lamports: bigint): string => `${formatUnits(lamports, 9)} SOL`;
