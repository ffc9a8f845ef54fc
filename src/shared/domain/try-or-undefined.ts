/** Returns what some work returns; undefined where it throws, whatever that is. */
export function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
