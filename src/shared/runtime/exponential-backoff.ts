/** Returns the delay after a number of failures in a row: it doubles with each, up to `maxMs`. */
export const exponentialDelayMs = (failures: number, baseMs: number, maxMs: number): number =>
  Math.min(maxMs, baseMs * 2 ** failures);
