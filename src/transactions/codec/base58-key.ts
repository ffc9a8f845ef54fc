export const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ONE = ALPHABET.charCodeAt(0);

const KEY_BYTES = 32;
/** Digits of the longest and the shortest text of a key. */
const [MAX_DIGITS, MIN_DIGITS] = [44, 32];

const CODE_OF_DIGIT = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const NO_DIGIT = 255;
/** The value of each digit by its character's code. */
export const DIGIT_OF_CODE = new Uint8Array(128).fill(NO_DIGIT);
for (const [digit, code] of CODE_OF_DIGIT.entries()) DIGIT_OF_CODE[code] = digit;

// Digits are multiplied in groups, the largest that a double holds exactly together with a limb. A key needs a tenth of the
// time that it needs digit by digit, and a list may have 200,000 keys. The scratch space is that of one call.

/** Digits that are decoded together. */
const GROUP = 4;
const GROUP_BASE = 58 ** GROUP;
/** A key in limbs of three bytes, least first. */
const BYTES_PER_LIMB = 3;
const LIMB_BASE = 2 ** 24;
const keyLimbs = new Float64Array(Math.ceil(KEY_BYTES / BYTES_PER_LIMB));

/** Decodes the base58 of a key of 32 bytes; undefined for any other text. */
export function decodeKey(text: string): Uint8Array | undefined {
  if (text.length < MIN_DIGITS || text.length > MAX_DIGITS) return undefined;
  keyLimbs.fill(0);
  let used = 0;
  for (let at = 0; at < text.length; ) {
    const end = at + (at === 0 ? text.length % GROUP || GROUP : GROUP);
    let carry = 0;
    for (; at < end; at++) {
      const digit = DIGIT_OF_CODE[text.charCodeAt(at)] ?? NO_DIGIT;
      if (digit === NO_DIGIT) return undefined;
      carry = carry * 58 + digit;
    }
    for (let i = 0; i < used || carry > 0; i++) {
      if (i === keyLimbs.length) return undefined;
      if (i === used) used++;
      const sum = (keyLimbs[i] ?? 0) * GROUP_BASE + carry;
      carry = Math.floor(sum / LIMB_BASE);
      keyLimbs[i] = sum - carry * LIMB_BASE;
    }
  }
  const limbAt = (index: number): number => keyLimbs[index] ?? 0;
  if (limbAt(keyLimbs.length - 1) >= 2 ** (8 * (KEY_BYTES % BYTES_PER_LIMB))) return undefined;
  const key = new Uint8Array(KEY_BYTES);
  for (let i = 0; i < KEY_BYTES; i++)
    key[KEY_BYTES - 1 - i] = limbAt(Math.floor(i / BYTES_PER_LIMB)) >>> (8 * (i % BYTES_PER_LIMB));
  return leadingZeros(key) === leadingOnes(text) ? key : undefined;
}

/** Digits that are encoded together. */
const CHUNK = 5;
const CHUNK_BASE = 58 ** CHUNK;
const chunks = new Float64Array(Math.ceil(MAX_DIGITS / CHUNK));
const codes = new Uint8Array(chunks.length * CHUNK);

/** Encodes a key of 32 bytes as base58. The text is in one piece, as is cheap to hash and to compare. */
export function encodeKey(key: Uint8Array): string {
  chunks.fill(0);
  let used = 0;
  for (let at = 0; at < KEY_BYTES; at += 2) {
    let carry = (key[at] ?? 0) * 256 + (key[at + 1] ?? 0);
    for (let i = 0; i < used || carry > 0; i++) {
      if (i === used) used++;
      const sum = (chunks[i] ?? 0) * 65_536 + carry;
      carry = Math.floor(sum / CHUNK_BASE);
      chunks[i] = sum - carry * CHUNK_BASE;
    }
  }
  let start = codes.length;
  for (let i = 0; i < used; i++) {
    let rest = chunks[i] ?? 0;
    for (let digit = 0; digit < CHUNK; digit++) {
      const shifted = Math.floor(rest / 58);
      codes[--start] = CODE_OF_DIGIT[rest - shifted * 58] ?? ONE;
      rest = shifted;
    }
  }
  while (codes[start] === ONE) start++;
  for (let zeros = leadingZeros(key); zeros > 0; zeros--) codes[--start] = ONE;
  return String.fromCharCode(...codes.subarray(start));
}

function leadingZeros(key: Uint8Array): number {
  let zeros = 0;
  while (key[zeros] === 0) zeros++;
  return zeros;
}

export function leadingOnes(text: string): number {
  let ones = 0;
  while (text.charCodeAt(ones) === ONE) ones++;
  return ones;
}
