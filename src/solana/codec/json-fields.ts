/** A JSON object of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Every reader of a node's JSON goes through these: what is absent, null or of another kind reads as nothing. */
export const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}; // checked beside it

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asString = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const asInteger = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** The decimals of a mint, a byte on chain: nobody's number may ask for a text of its own length. */
export function asDecimals(value: unknown): number | null {
  const decimals = asInteger(value);
  return decimals !== null && decimals >= 0 && decimals <= 255 ? decimals : null;
}

/** A whole number of any size, spelled as a number or as text. */
export function asBigInt(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null;
}
