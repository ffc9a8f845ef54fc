import { compare } from '../../shared/domain/compare.ts';
import { divideRounded } from '../../transactions/index.ts';
import type { Price } from './price-source.ts';

export const VALUE_DECIMALS = 6;

const MICRO = 10n ** BigInt(VALUE_DECIMALS);

export interface Position {
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
  /** True for a token that is one of a kind: it has no market price. */
  readonly isNft: boolean;
}

/** A position with its price and value, if a source has a price. All is exact to {@link VALUE_DECIMALS} places. */
export interface ValuedPosition<H> {
  readonly position: H;
  readonly price: Price | null;
  /** The value in millionths of a US dollar. */
  readonly microUsd: bigint | null;
  /** The share of the total in millionths; null without a value or when the total is 0. */
  readonly microShare: bigint | null;
}

export interface Valuation<H> {
  readonly items: readonly ValuedPosition<H>[];
  /** The value of all positions that have a price, in millionths; null when none has: unknown is not worthless. */
  readonly totalMicroUsd: bigint | null;
  /** The Unix time of the oldest price in the total, in seconds. */
  readonly asOf: number | null;
  readonly stale: boolean;
}

/** Values positions, highest value first, then those without a price by mint. Equal ones keep their order. */
export function valuePositions<H extends Position>(
  positions: readonly H[],
  prices: ReadonlyMap<string, Price>,
): Valuation<H> {
  const valued = positions.map((position) => {
    const price = position.isNft ? null : (prices.get(position.mint) ?? null);
    return { position, price, microUsd: price === null ? null : microUsdOf(position, price) };
  });
  const values = valued.flatMap(({ microUsd }) => microUsd ?? []);
  const total = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0n);
  const times = valued.flatMap(({ price }) => price?.time ?? []);
  const items = valued.map((item) => ({ ...item, microShare: shareOf(item.microUsd, total) }));
  return {
    items: items.sort(byValue),
    totalMicroUsd: total,
    asOf: times.length === 0 ? null : Math.min(...times),
    stale: valued.some(({ price }) => price?.stale === true),
  };
}

/** Returns the value of an amount in millionths of a US dollar: the amount that the chain counts times the price of it. */
export function microUsdOf({ amount, decimals }: Pick<Position, 'amount' | 'decimals'>, { usd }: Price): bigint {
  return divideRounded(amount * usd.units * MICRO, 10n ** BigInt(decimals + usd.scale));
}

const shareOf = (value: bigint | null, total: bigint | null): bigint | null =>
  value === null || !total ? null : divideRounded(value * MICRO, total);

const byValue = (a: ValuedPosition<Position>, b: ValuedPosition<Position>): number =>
  compare(b.microUsd ?? -1n, a.microUsd ?? -1n) || compare(a.position.mint, b.position.mint);
