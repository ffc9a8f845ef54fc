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

/** Returns a mint's decimals, one byte on chain. The bound keeps a forged number from asking for a text of its length. */
export function asDecimals(value: unknown): number | null {
  const decimals = asInteger(value);
  return decimals !== null && decimals >= 0 && decimals <= 255 ? decimals : null;
}

/** Returns an integer of any size, given as a number or as digits. */
export function asBigInt(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null;
}
