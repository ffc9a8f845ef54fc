/** Returns the delay after so many failures in a row: it doubles with each, up to `maxMs`. */
export const exponentialDelayMs = (failures: number, baseMs: number, maxMs: number): number =>
  Math.min(maxMs, baseMs * 2 ** failures);
