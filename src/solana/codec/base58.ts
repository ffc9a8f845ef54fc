import bs58 from 'bs58';

const DIGITS = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** The powers of 256 in base58, each made when it is first needed: what has n bytes is below the nth. */
const powers: string[] = [];
const powerOf256 = (exponent: number): string => {
  powers[exponent] ??= bs58.encode(Uint8Array.of(1, ...new Uint8Array(exponent)));
  return powers[exponent];
};

/**
 * Tells whether a text is the base58 of so many bytes. It decodes nothing: the digits sort as their characters do, so a
 * comparison of texts is one of numbers, and many addresses may be checked before a caller's quota is known to last.
 */
export function isBase58Of(text: string, byteLength: number): boolean {
  if (!DIGITS.test(text)) return false;
  let zeros = 0;
  while (text[zeros] === '1') zeros++;
  const digits = text.slice(zeros);
  const rest = byteLength - zeros;
  if (rest <= 0) return rest === 0 && digits === '';
  return isBelow(digits, powerOf256(rest)) && !isBelow(digits, powerOf256(rest - 1));
}

/** Compares two numbers without leading zeros. */
const isBelow = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);
