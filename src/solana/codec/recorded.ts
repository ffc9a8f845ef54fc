/** A JSON object of which nothing is known yet. */
export type Recorded = Readonly<Record<string, unknown>>;

/** Every reader of a node's JSON goes through these: what is absent, null or of another kind reads as nothing. */
export const object = (value: unknown): Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Recorded) : {}; // checked beside it

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const integer = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** The decimals of a mint, a byte on chain: nobody's number may ask for a text of its own length. */
export function decimalPlaces(value: unknown): number | null {
  const places = integer(value);
  return places !== null && places >= 0 && places <= 255 ? places : null;
}

/** A whole number of any size, spelled as a number or as text. */
export function whole(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null;
}
