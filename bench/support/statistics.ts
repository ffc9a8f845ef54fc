export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const byValue = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

export const median = (values: readonly number[]): number => byValue(values)[values.length >> 1] ?? Number.NaN;

/**
 * Returns the median with its 95 % confidence interval: the narrowest pair of order statistics, as far from either end,
 * that holds the median with that probability, whatever the distribution. Fewer than six values have none; there the
 * interval is from the lowest to the highest.
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = byValue(values);
  const n = sorted.length;
  let rank = 0;
  for (let outside = 0, chance = 2 ** -n; rank < n / 2; rank++) {
    outside += 2 * chance; // the probability that the median is beyond the values of this rank
    if (outside > 0.05) break;
    chance *= (n - rank) / (rank + 1);
  }
  const edge = Math.max(0, rank - 1);
  return { median: median(values), low: sorted[edge] ?? Number.NaN, high: sorted[n - 1 - edge] ?? Number.NaN };
}
