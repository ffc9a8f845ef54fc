/** Writes an amount of smallest units as a decimal number, with all its digits and its sign. */
export function decimalOf(amount: string | number | bigint, decimals: number): string {
  const units = BigInt(amount);
  const digits = `${units < 0n ? -units : units}`.padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - decimals);
  const written = decimals === 0 ? digits : fraction === '' ? whole : `${whole}.${fraction}`;
  return units < 0n ? `-${written}` : written;
}

const ABBREVIATIONS = /\b(?:dca|idl|nft|sol|spl)\b/gi;

/** Writes a name of a program or a type as words: `initializeMint` and `FILL_ORDER` become `Initialize mint`, `Fill order`. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_:-]+/g, ' ')
    .toLowerCase()
    .trim();
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(ABBREVIATIONS, (word) => word.toUpperCase());
}
