import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'sg_live_';
const RANDOM = 30; // characters: 178 bits
const CHECKSUM = 6; // characters: room for 32 bits
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM + CHECKSUM}}$`);

/** A new key: `sg_live_`, 30 random base62 characters, and the CRC-32 of all that in six more. */
export function newApiKey(): string {
  return keyOf(Array.from({ length: RANDOM }, () => DIGITS.charAt(randomInt(DIGITS.length))).join(''));
}

/** The key of 30 given characters, which should be random ones. */
export const keyOf = (random: string): string => PREFIX + random + checksum(PREFIX + random);

/** False for what no gateway ever issued: a slip of the pen is told from a foreign key without a look-up. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const body = text.slice(0, -CHECKSUM);
  return text.slice(-CHECKSUM) === checksum(body);
}

/** SHA-256 of a key, in hex: all that is kept of it. So many random bits want no slow hash. */
export const digestOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** In base62, most significant digit first. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM; i++) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}
