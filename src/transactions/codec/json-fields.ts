/** A JSON object with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns a JSON object, or an empty one for any other value. All readers of a node's JSON use these functions: a value
 * that is absent, null or of another type counts as missing.
 */
export const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}; // checked beside it

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asString = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const asInteger = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** Returns a mint's decimals, one byte on chain. The bound keeps a forged number from making a text of its length. */
export function asDecimals(value: unknown): number | null {
  const decimals = asInteger(value);
  return decimals !== null && decimals >= 0 && decimals <= 255 ? decimals : null;
}

/** Bound of the integers that a transaction has: sums of u64 values stay far below. */
const MAX_INTEGER = 1n << 128n;

/** Returns an integer, given as a number or as digits. The bound keeps arithmetic with a forged one short. */
export function asBigInt(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value < MAX_INTEGER && value > -MAX_INTEGER ? value : null;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^\d{1,39}$/.test(value) ? BigInt(value) : null;
}
