/** Returns the value that all of some are; null if there is none, or if they differ. */
export function onlyValue(values: Iterable<string | null>): string | null {
  const [only = null, ...others] = new Set(values);
  return others.length === 0 ? only : null;
}
