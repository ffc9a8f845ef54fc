import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'sg_live_';
const RANDOM_LENGTH = 30; // characters: 178 bits
const CHECKSUM_LENGTH = 6; // characters: room for 32 bits
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** Generates a key: `sg_live_`, 30 random base62 characters, and their CRC-32 in six more. */
export function generateApiKey(): string {
  return apiKeyFrom(Array.from({ length: RANDOM_LENGTH }, () => DIGITS.charAt(randomInt(DIGITS.length))).join(''));
}

export const apiKeyFrom = (random: string): string => PREFIX + random + checksum(PREFIX + random);

/** Returns whether the checksum matches. It distinguishes a mistyped key from an unknown one without a look-up. */
export function isApiKey(text: string): boolean {
  if (!PATTERN.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksum(body);
}

/** Returns the SHA-256 of a key in hex, the only thing stored. 178 random bits need no slow hash. */
export const digestOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Returns the CRC-32 in base62, most significant digit first. */
function checksum(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = DIGITS.charAt(remainder % DIGITS.length) + text;
    remainder = Math.floor(remainder / DIGITS.length);
  }
  return text;
}
