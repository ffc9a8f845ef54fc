import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'sg_live_';
const RANDOM_LENGTH = 30; // characters: 178 bits
const CHECKSUM_LENGTH = 6; // characters: room for 32 bits
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key: `sg_live_`, 30 random base62 characters, and the CRC-32 of all that in six more. */
export function generateApiKey(): string {
  return apiKeyFrom(Array.from({ length: RANDOM_LENGTH }, () => DIGITS.charAt(randomInt(DIGITS.length))).join(''));
}

/** The key of 30 given characters, which should be random ones. */
export const apiKeyFrom = (random: string): string => PREFIX + random + checksum(PREFIX + random);

/** False for what no gateway ever issued: a slip of the pen is told from a foreign key without a look-up. */
export function isApiKey(text: string): boolean {
  if (!PATTERN.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksum(body);
}

/** SHA-256 of a key, in hex: all that is kept of it. So many random bits want no slow hash. */
export const digestOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** In base62, most significant digit first. */
function checksum(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = DIGITS.charAt(remainder % DIGITS.length) + text;
    remainder = Math.floor(remainder / DIGITS.length);
  }
  return text;
}
