import { ALPHABET, DIGIT_OF_CODE, leadingOnes } from './base58-key.ts';

// For texts of any length. Those of a key or a signature may be decoded by bs58, which needs quadratic time, and the keys of a
// long list by base58-key.ts.

const DIGITS = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** As many digits as a double holds exactly. */
const SHORT = 9;

/** 58 to the powers of {@link SHORT}, twice that, four times that and so on, each made when it is first needed. */
const shifts: bigint[] = [58n ** BigInt(SHORT)];
function shiftOf(doublings: number): bigint {
  shifts[doublings] ??= shiftOf(doublings - 1) ** 2n;
  return shifts[doublings];
}

/**
 * Decodes base58; undefined for anything else. It halves the text and multiplies in native code, so that a long text
 * needs no quadratic time, as it does digit by digit.
 */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (!DIGITS.test(text)) return undefined;
  const zeros = leadingOnes(text);
  if (zeros === text.length) return new Uint8Array(zeros);
  const hex = integerOf(text.slice(zeros)).toString(16);
  return Buffer.concat([new Uint8Array(zeros), Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')]);
}

function integerOf(digits: string): bigint {
  if (digits.length <= SHORT) {
    let value = 0;
    for (let at = 0; at < digits.length; at++) value = value * 58 + (DIGIT_OF_CODE[digits.charCodeAt(at)] ?? 0);
    return BigInt(value);
  }
  const doublings = doublingsBelow(digits.length);
  const half = digits.length - SHORT * 2 ** doublings;
  return integerOf(digits.slice(0, half)) * shiftOf(doublings) + integerOf(digits.slice(half));
}

/** Returns how often {@link SHORT} can be doubled and stay below a length. */
const doublingsBelow = (length: number): number => Math.ceil(Math.log2(length / SHORT)) - 1;

/** Encodes bytes as base58, in halves, as {@link decodeBase58} decodes. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (bytes[zeros] === 0) zeros++;
  if (zeros === bytes.length) return '1'.repeat(zeros);
  const value = BigInt(
    `0x${Buffer.from(bytes.buffer, bytes.byteOffset + zeros, bytes.length - zeros).toString('hex')}`,
  );
  const length = maxBase58Length(bytes.length - zeros);
  const digits = digitsOf(value, Math.max(0, Math.ceil(Math.log2(length / SHORT))));
  return '1'.repeat(zeros) + digits.slice(leadingOnes(digits));
}

/** Returns the length of the longest text for a number of bytes: log 256 / log 58 digits a byte. */
export const maxBase58Length = (byteLength: number): number => Math.ceil(byteLength * 1.3659);

/** Returns the digits of a value below 58 ^ (SHORT * 2 ^ doublings), with leading zeros. */
function digitsOf(value: bigint, doublings: number): string {
  if (doublings > 0) {
    const shift = shiftOf(doublings - 1);
    return digitsOf(value / shift, doublings - 1) + digitsOf(value % shift, doublings - 1);
  }
  let digits = '';
  for (let rest = Number(value); rest > 0; rest = Math.floor(rest / 58)) digits = ALPHABET[rest % 58] + digits;
  return digits.padStart(SHORT, ALPHABET[0]);
}

/** The powers of 256 in base58, each made when it is first needed: what has n bytes is below the nth. */
const powers: string[] = [];
const powerOf256 = (exponent: number): string => {
  powers[exponent] ??= encodeBase58(Uint8Array.of(1, ...new Uint8Array(exponent)));
  return powers[exponent];
};

/**
 * Returns whether a text is the base58 of a number of bytes. It decodes nothing: the digits sort as their characters do,
 * so a comparison of texts is one of numbers, and many addresses can be checked before the caller's quota is.
 */
export function isBase58Of(text: string, byteLength: number): boolean {
  if (!DIGITS.test(text)) return false;
  const zeros = leadingOnes(text);
  const digits = text.slice(zeros);
  const rest = byteLength - zeros;
  if (rest <= 0) return rest === 0 && digits === '';
  return isBelow(digits, powerOf256(rest)) && !isBelow(digits, powerOf256(rest - 1));
}

/** Returns whether a value is the text of an address. */
export const isAddress = (value: unknown): value is string => typeof value === 'string' && isBase58Of(value, 32);

/** Compares two numbers without leading zeros. */
const isBelow = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);
