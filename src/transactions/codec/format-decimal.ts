import { withoutTrailing } from './without-trailing.ts';

/** Formats an integer of smallest units with `decimals` digits after the point, without trailing zeros. */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const pointIndex = digits.length - decimals;
  const fraction = withoutTrailing(digits.slice(pointIndex), '0');
  return `${sign}${digits.slice(0, pointIndex)}${fraction === '' ? '' : `.${fraction}`}`;
}

const DOUBLE = new Float64Array(1);
const DOUBLE_BITS = new BigUint64Array(DOUBLE.buffer);

/**
 * Formats a double rounded to `decimals` digits, without trailing zeros. It is exact at any size, which `toFixed` is
 * not from 1e21 on, and rounds a tie to the even digit as nodes do.
 */
export function formatRoundedDouble(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return formatNonFinite(value);
  const [mantissa, exponent] = mantissaAndExponent(Math.abs(value));
  const scaled = mantissa * 10n ** BigInt(decimals);
  const units = exponent >= 0n ? scaled << exponent : shiftRightHalfEven(scaled, -exponent);
  const text = formatUnits(units, decimals);
  return value < 0 || Object.is(value, -0) ? `-${text}` : text;
}

/** Formats a double in its shortest exact digits, never with an exponent. */
export function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return formatNonFinite(value);
  const [digits = '', exponent] = `${Math.abs(value)}`.split('e');
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (exponent === undefined) return sign + digits;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  return shift > 0
    ? `${sign}${whole}${fraction.padEnd(shift, '0')}`
    : `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
}

/** Formats infinities and NaN as nodes (Rust) do. */
const formatNonFinite = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf');

/** Splits a finite, non-negative double into an integer times a power of two. */
function mantissaAndExponent(value: number): readonly [mantissa: bigint, exponent: bigint] {
  DOUBLE[0] = value;
  const bits = DOUBLE_BITS[0] ?? 0n;
  const exponent = bits >> 52n;
  const fraction = bits & ((1n << 52n) - 1n);
  return exponent === 0n ? [fraction, -1074n] : [fraction | (1n << 52n), exponent - 1075n];
}

function shiftRightHalfEven(value: bigint, shift: bigint): bigint {
  const quotient = value >> shift;
  const remainder = value - (quotient << shift);
  const half = 1n << (shift - 1n);
  const roundUp = remainder > half || (remainder === half && quotient % 2n === 1n);
  return roundUp ? quotient + 1n : quotient;
}
