import type { Price } from './price-source.ts';

/** Something held, in the amount that people see. */
export interface Holding {
  readonly mint: string;
  readonly uiAmountString: string;
  /** What is one of a kind has no market price. */
  readonly isNft: boolean;
}

/** What a holding is worth, as far as somebody knows. */
export interface Valued<H> {
  readonly holding: H;
  readonly price: Price | null;
  /** In dollars, to 6 places. */
  readonly valueUsd: number | null;
  /** Of the total, from 0 to 1, to 6 places; null without a value, or of nothing. */
  readonly share: number | null;
}

export interface Valuation<H> {
  readonly items: readonly Valued<H>[];
  /** Of all that is priced; null when nothing is: unknown is not worthless. */
  readonly totalUsd: number | null;
  /** Unix seconds of the oldest price that is in the total. */
  readonly asOf: number | null;
}

/** Values holdings, dearest first, then those without a price by mint. The order of equals is kept. */
export function value<H extends Holding>(holdings: readonly H[], prices: ReadonlyMap<string, Price>): Valuation<H> {
  const valued = holdings.map((holding) => {
    const price = holding.isNft ? null : (prices.get(holding.mint) ?? null);
    return { holding, price, valueUsd: price === null ? null : usd(Number(holding.uiAmountString) * price.usd) };
  });
  const values = valued.flatMap(({ valueUsd }) => valueUsd ?? []);
  const totalUsd = values.length === 0 ? null : usd(values.reduce((sum, each) => sum + each, 0));
  const times = valued.flatMap(({ price }) => price?.time ?? []);
  const items = valued.map((each) => ({ ...each, share: shareOf(each.valueUsd, totalUsd) }));
  return {
    items: items.sort((a, b) => byValue(a, b) || byMint(a, b)),
    totalUsd,
    asOf: times.length === 0 ? null : Math.min(...times),
  };
}

const usd = (amount: number): number => Number(amount.toFixed(6));

const shareOf = (value: number | null, total: number | null): number | null =>
  value === null || !total ? null : Number((value / total).toFixed(6));

type Ranked = Valued<Holding>;

const byValue = (a: Ranked, b: Ranked): number => (b.valueUsd ?? -1) - (a.valueUsd ?? -1);

const byMint = (a: Ranked, b: Ranked): number =>
  a.holding.mint < b.holding.mint ? -1 : a.holding.mint > b.holding.mint ? 1 : 0;
