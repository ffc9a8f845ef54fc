import { knownMintSymbol, WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { TokenLabel } from '../accounts/token-label.ts';
import { isNftAmount, sumByMint } from '../analysis/payments.ts';
import type { AssetAmount } from '../analysis/wallet-changes.ts';
import { formatUnits } from '../codec/format-decimal.ts';

/** Formats an address in a sentence. */
export interface FormatAddress {
  (address: string): string;
  /** Returns what a token that isn't among the best-known ones is called; undefined if that isn't known. */
  readonly labelOf?: (mint: string) => TokenLabel | undefined;
}

/** Returns the whole address, for programs. */
export const fullAddress: FormatAddress = (address) => address;

/** Returns `7xKX…gAsU`, for people. */
export const shortAddress: FormatAddress = (address) =>
  address.length > 12 ? `${address.slice(0, 4)}…${address.slice(-4)}` : address;

/** Returns the symbol of a token, or its name: `WIF`, `“A dog”`, `“USDC” (A9mU…i3FM)` where that may be another one. */
export function tokenName(mint: string, formatAddress: FormatAddress): string | null {
  const symbol = knownMintSymbol(mint);
  if (symbol !== null) return symbol;
  const label = formatAddress.labelOf?.(mint);
  if (label === undefined) return null;
  return label.isAmbiguous ? `${label.text} (${shortAddress(mint)})` : label.text;
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

/** Lists amounts; more than two of a kind are counted: `0.1 SOL and 6 NFTs`. */
export function formatAmounts(amounts: readonly AssetAmount[], formatAddress: FormatAddress): string {
  const sums = sumByMint(amounts);
  const nfts = sums.filter((sum) => isNftAmount(sum) && knownMintSymbol(sum.mint) === null);
  const [sols, tokens] = [
    sums.filter(({ mint }) => mint === WRAPPED_SOL),
    sums.filter(({ mint }) => mint !== WRAPPED_SOL),
  ].map((group) => group.filter((sum) => !nfts.includes(sum)));
  const formatGroup = (group: readonly AssetAmount[] = [], name: string): string[] =>
    group.length > 2 ? [`${group.length} ${name}`] : group.map((sum) => formatAmount(sum, formatAddress));
  const parts = [
    ...formatGroup(sols, 'amounts of SOL'),
    ...formatGroup(tokens, 'kinds of tokens'),
    ...formatGroup(nfts, 'NFTs'),
  ];
  return parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Names one account, counts several: `7xKX…gAsU`, `3 accounts`. */
export const formatAccounts = (addresses: ReadonlySet<string>, formatAddress: FormatAddress): string =>
  addresses.size === 1 ? formatAddress([...addresses][0] ?? '') : `${addresses.size} accounts`;

export const formatSol = (lamports: bigint): string => `${formatUnits(lamports, 9)} SOL`;
