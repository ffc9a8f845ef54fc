import type { Price } from './price-source.ts';

/** An amount of an asset that an owner has. */
export interface Position {
  readonly mint: string;
  readonly uiAmountString: string;
  /** True for a token that is one of a kind: it has no market price. */
  readonly isNft: boolean;
}

/** A position with its price and value, if a source has a price. */
export interface ValuedPosition<H> {
  readonly position: H;
  readonly price: Price | null;
  /** The value in US dollars, to 6 decimal places. */
  readonly valueUsd: number | null;
  /** The share of the total, from 0 to 1, to 6 decimal places; null without a value or when the total is 0. */
  readonly share: number | null;
}

export interface Valuation<H> {
  readonly items: readonly ValuedPosition<H>[];
  /** The value of all positions that have a price; null when none has: unknown is not worthless. */
  readonly totalUsd: number | null;
  /** The Unix time of the oldest price in the total, in seconds. */
  readonly asOf: number | null;
}

/** Values positions, highest value first, then those without a price by mint. Equal ones keep their order. */
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
