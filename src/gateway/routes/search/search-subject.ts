import bs58 from 'bs58';

export interface SearchSubject {
  readonly type: 'address' | 'signature' | 'slot' | 'epoch' | 'domain';
  readonly id: string;
}

/** The longest text of 64 bytes in base58 is 88. Longer texts aren't decoded, since that takes quadratic time. */
const MAX_BASE58_LENGTH = 90;

/** The shortest text of 32 bytes in base58: the System Program's address. */
const MIN_BASE58_LENGTH = 32;

export function parseKey(text: string): SearchSubject | undefined {
  if (text.length < MIN_BASE58_LENGTH || text.length > MAX_BASE58_LENGTH) return undefined;
  const bytes = bs58.decodeUnsafe(text)?.length;
  if (bytes === 32) return { type: 'address', id: text };
  return bytes === 64 ? { type: 'signature', id: text } : undefined;
}

/** What separates ids in a longer word: `SOL-<mint>`, `<referrer>_<mint>`, `wallet=<address>`, `solana:<address>`. */
const SEPARATORS = /[-_:=,./]/;

/** Finds the last address or signature in a word: what comes before it says whose or in what. */
export function findKey(word: string): SearchSubject | undefined {
  return (
    parseKey(word) ??
    word
      .split(SEPARATORS)
      .reverse()
      .map((part) => parseKey(part))
      .find((found) => found !== undefined)
  );
}

const MAX_SLOT = BigInt(Number.MAX_SAFE_INTEGER);

/** The most digits of an epoch: its first slot is then below 2^53 where an epoch has 432,000 slots. */
const MAX_EPOCH_DIGITS = 10;

/** Digits, perhaps in groups of three, perhaps behind `#`. A point separates groups only where there are several. */
const NUMBER =
  /^#?(\d{1,40}|\d{1,3}(?:,\d{3}){1,12}|\d{1,3}(?:[_' \u00a0\u202f]\d{3}){1,12}|\d{1,3}(?:\.\d{3}){2,12})$/;

export function parseDigits(text: string): string | undefined {
  const written = NUMBER.exec(text)?.[1];
  return written === undefined ? undefined : `${BigInt(written.replaceAll(/\D/g, ''))}`;
}

/** Reads the number of a slot, or of an epoch. A number above 2^53 - 1 is neither. */
export function parseNumber(text: string, type: 'slot' | 'epoch' = 'slot'): SearchSubject | undefined {
  const id = parseDigits(text);
  if (id === undefined || BigInt(id) > MAX_SLOT || (type === 'epoch' && id.length > MAX_EPOCH_DIGITS)) return undefined;
  return { type, id };
}

/** Longest .sol name: two DNS labels of 63 bytes, dots and suffix. */
const MAX_DOMAIN_LENGTH = 132;

const DOMAIN = /^[^./?#\s]+(?:\.[^./?#\s]+)?\.sol$/i;

/** Reads a .sol name. Its accounts are not derived yet, which takes long. */
export const parseDomain = (text: string): SearchSubject | undefined =>
  text.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(text) ? { type: 'domain', id: text.toLowerCase() } : undefined;
