import { mintSymbol, WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Quantity } from '../analysis/holdings.ts';
import { isCollectible, total } from '../analysis/payments.ts';
import { decimalText } from '../codec/decimal.ts';

/** How an address is written in a sentence. */
export type Spelling = (address: string) => string;

/** As it is, for programs that read. */
export const inFull: Spelling = (address) => address;

/** `7xKX…gAsU`, for people. */
export const shortened: Spelling = (address) =>
  address.length > 12 ? `${address.slice(0, 4)}…${address.slice(-4)}` : address;

/** `1.5 SOL`, `2 of the token 7xKX…gAsU`, `the NFT 7xKX…gAsU`. */
export function quantity({ mint, amount, decimals }: Quantity, spell: Spelling): string {
  const symbol = mintSymbol(mint);
  if (symbol === null && isCollectible({ amount, decimals })) return `the NFT ${spell(mint)}`;
  return symbol === null
    ? `${number(amount, decimals)} of the token ${spell(mint)}`
    : `${number(amount, decimals)} ${symbol}`;
}

/** Every digit, unless the mint claims so many decimals that nobody could read it. */
const number = (amount: bigint, decimals: number): string =>
  decimals > 18 ? `${amount} smallest units` : decimalText(amount, decimals);

/** SOL and two other things are named, more are counted: `0.1 SOL and 6 NFTs`. */
export function quantities(all: readonly Quantity[], spell: Spelling): string {
  const sums = total(all);
  const nfts = sums.filter((sum) => isCollectible(sum) && mintSymbol(sum.mint) === null);
  const [sols, tokens] = [
    sums.filter(({ mint }) => mint === WRAPPED_SOL),
    sums.filter(({ mint }) => mint !== WRAPPED_SOL),
  ].map((some) => some.filter((sum) => !nfts.includes(sum)));
  const named = (some: readonly Quantity[] = [], name: string): string[] =>
    some.length > 2 ? [`${some.length} ${name}`] : some.map((sum) => quantity(sum, spell));
  const parts = [...named(sols, 'amounts of SOL'), ...named(tokens, 'kinds of tokens'), ...named(nfts, 'NFTs')];
  return parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** One is named, more are counted: `7xKX…gAsU`, `3 accounts`. */
export const accounts = (all: ReadonlySet<string>, spell: Spelling): string =>
  all.size === 1 ? spell([...all][0] ?? '') : `${all.size} accounts`;

export const sol = (lamports: bigint): string => `${decimalText(lamports, 9)} SOL`;
