/** Returns the value below which the given share of a sample lies. */
export function percentile(sample: readonly number[], share: number): number {
  return sample.toSorted((a, b) => a - b)[Math.floor(sample.length * share)] ?? Number.NaN;
}
