/** An integer of units as a decimal with `places` behind the point and no zero at its end. */
export function decimalText(units: bigint, places: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return `${sign}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`;
}

const UNITS = new Float64Array(1);
const BITS = new BigUint64Array(UNITS.buffer);

/**
 * A double rounded to `places`, without zeros at its end. It is exact at any size, which `toFixed` is not from 1e21 on,
 * and rounds a tie to the even digit as nodes do.
 */
export function roundedDecimal(value: number, places: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const [mantissa, exponent] = fractionOf(Math.abs(value));
  const scaled = mantissa * 10n ** BigInt(places);
  const units = exponent >= 0n ? scaled << exponent : shiftedToEven(scaled, -exponent);
  const text = decimalText(units, places);
  return value < 0 || Object.is(value, -0) ? `-${text}` : text;
}

/** A double in its shortest exact digits and never with an exponent. */
export function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const [digits = '', exponent] = `${Math.abs(value)}`.split('e');
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (exponent === undefined) return sign + digits;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  return shift > 0
    ? `${sign}${whole}${fraction.padEnd(shift, '0')}`
    : `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
}

/** The spelling of nodes. */
const notFinite = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf');

/** A double is an integer times a power of two. */
function fractionOf(value: number): readonly [mantissa: bigint, exponent: bigint] {
  UNITS[0] = value;
  const bits = BITS[0] ?? 0n;
  const exponent = bits >> 52n;
  const fraction = bits & ((1n << 52n) - 1n);
  return exponent === 0n ? [fraction, -1074n] : [fraction | (1n << 52n), exponent - 1075n];
}

function shiftedToEven(value: bigint, shift: bigint): bigint {
  const quotient = value >> shift;
  const rest = value - (quotient << shift);
  const half = 1n << (shift - 1n);
  const up = rest > half || (rest === half && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}
