/** Returns true if an error has this system code, such as `ENOENT`. */
export const hasErrorCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;

/** Returns what some work on a file returns; undefined if there is no such file. */
export function ifPresent<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}
