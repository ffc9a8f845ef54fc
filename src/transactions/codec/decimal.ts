/** A decimal number that is not negative, exact: `units * 10 ** -scale`. */
export interface Decimal {
  readonly units: bigint;
  /** The digits after the point; at least 0. */
  readonly scale: number;
}

/** The largest power of ten, up or down, that a number may have: a few characters must not become millions of digits. */
const MAX_EXPONENT = 64;

/** Returns `units * 10 ** exponent`; undefined if it is negative or beyond what a price can be. */
export function decimalOf(units: bigint, exponent: number): Decimal | undefined {
  if (units < 0n || Math.abs(exponent) > MAX_EXPONENT) return undefined;
  return exponent <= 0 ? { units, scale: -exponent } : { units: units * 10n ** BigInt(exponent), scale: 0 };
}

const NUMBER = /^(\d{1,64})(?:\.(\d{1,64}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Parses a JSON number; returns undefined for any other text, a negative number, or one beyond what a price can be. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  return whole === undefined ? undefined : decimalOf(BigInt(whole + fraction), Number(exponent) - fraction.length);
}

/** The significant digits of a price: services compute in doubles, whose last digits are noise. */
const PRICE_DIGITS = 12;

/** Rounds a price, ties up. */
export function roundPrice(value: Decimal): Decimal {
  const excess = value.units.toString().length - PRICE_DIGITS;
  if (excess <= 0) return value;
  const units = divideRounded(value.units, 10n ** BigInt(excess));
  const scale = value.scale - excess;
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** Divides integers that are not negative, and rounds, ties up. */
export const divideRounded = (dividend: bigint, divisor: bigint): bigint => (dividend * 2n + divisor) / (divisor * 2n);
