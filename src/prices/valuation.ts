import type { Price } from './price-source.ts';

/** Something held, in the amount that people see. */
export interface Position {
  readonly mint: string;
  readonly uiAmountString: string;
  /** What is one of a kind has no market price. */
  readonly isNft: boolean;
}

/** What a holding is worth, as far as somebody knows. */
export interface ValuedPosition<H> {
  readonly position: H;
  readonly price: Price | null;
  /** In dollars, to 6 places. */
  readonly valueUsd: number | null;
  /** Of the total, from 0 to 1, to 6 places; null without a value, or of nothing. */
  readonly share: number | null;
}

export interface Valuation<H> {
  readonly items: readonly ValuedPosition<H>[];
  /** Of all that is priced; null when nothing is: unknown is not worthless. */
  readonly totalUsd: number | null;
  /** Unix seconds of the oldest price that is in the total. */
  readonly asOf: number | null;
}

/** Values holdings, dearest first, then those without a price by mint. The order of equals is kept. */
export function valuePositions<H extends Position>(
  positions: readonly H[],
  prices: ReadonlyMap<string, Price>,
): Valuation<H> {
  const valued = positions.map((position) => {
    const price = position.isNft ? null : (prices.get(position.mint) ?? null);
    return { position, price, valueUsd: price === null ? null : roundUsd(Number(position.uiAmountString) * price.usd) };
  });
  const values = valued.flatMap(({ valueUsd }) => valueUsd ?? []);
  const totalUsd = values.length === 0 ? null : roundUsd(values.reduce((sum, item) => sum + item, 0));
  const times = valued.flatMap(({ price }) => price?.time ?? []);
  const items = valued.map((item) => ({ ...item, share: shareOf(item.valueUsd, totalUsd) }));
  return {
    items: items.sort((a, b) => byValue(a, b) || byMint(a, b)),
    totalUsd,
    asOf: times.length === 0 ? null : Math.min(...times),
  };
}

const roundUsd = (amount: number): number => Number(amount.toFixed(6));

const shareOf = (value: number | null, total: number | null): number | null =>
  value === null || !total ? null : Number((value / total).toFixed(6));

type Ranked = ValuedPosition<Position>;

const byValue = (a: Ranked, b: Ranked): number => (b.valueUsd ?? -1) - (a.valueUsd ?? -1);

const byMint = (a: Ranked, b: Ranked): number =>
  a.position.mint < b.position.mint ? -1 : a.position.mint > b.position.mint ? 1 : 0;
