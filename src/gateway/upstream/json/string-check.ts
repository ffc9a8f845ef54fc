import { BACKSLASH, BLANK, malformed, QUOTE, WHOLE } from './json-scanner.ts';

/** What may follow a backslash in a string; `u` and four hexadecimal digits may, too. */
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const SMALL_U = 0x75;
const HEX = /^[\da-f]{4}$/i;

/**
 * Checks what the scanner passes over: that no string has a raw control character or an unknown escape (RFC 8259, 7). A text
 * with neither such a byte nor a backslash, as nodes mostly write it, is not looked at byte by byte.
 */
export class StringCheck {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at = 0;
  #isInString = false;
  #isPlain = true;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    let end = bytes.length;
    while (end > 0 && (bytes[end - 1] ?? 0) <= BLANK) end--; // a node may end its text with a line feed
    this.#end = end;
  }

  /** Checks about this many bytes more. Returns true when all are checked. Throws `upstream_error` for a string that is not valid. */
  run(maxBytes = WHOLE): boolean {
    const until = Math.min(this.#end, this.#at + maxBytes);
    if (!this.#isPlain) this.#checkBytes(until);
    else if (isPlain(this.#bytes, this.#at, until)) this.#at = until;
    else {
      this.#isPlain = false;
      this.#at = 0; // whether a string is open follows from all before
      return this.run(maxBytes);
    }
    return this.#at >= this.#end;
  }

  #checkBytes(until: number): void {
    const bytes = this.#bytes;
    let [at, isInString] = [this.#at, this.#isInString];
    for (; at < until; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) isInString = !isInString;
      else if (!isInString) continue;
      else if (byte < BLANK) throw malformed();
      else if (byte === BACKSLASH) at += escapedLength(bytes, at + 1);
    }
    [this.#at, this.#isInString] = [at, isInString];
  }
}

/** Returns the length of what is behind a backslash. */
function escapedLength(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0;
  if (ESCAPED.has(byte)) return 1;
  if (byte === SMALL_U && HEX.test(bytes.toString('latin1', at + 1, at + 5))) return 5;
  throw malformed();
}

function isPlain(bytes: Buffer, from: number, until: number): boolean {
  const escapeAt = bytes.indexOf(BACKSLASH, from);
  if (escapeAt >= 0 && escapeAt < until) return false;
  const wordsAt = Math.min(until, from + (-(bytes.byteOffset + from) & (WORD_BYTES - 1)));
  const wordsEnd = until - ((until - wordsAt) % WORD_BYTES);
  for (let at = from; at < wordsAt; at++) if ((bytes[at] ?? 0) < BLANK) return false;
  for (let at = wordsEnd; at < until; at++) if ((bytes[at] ?? 0) < BLANK) return false;
  if (wordsAt === wordsEnd) return true; // a view must begin where a word does
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, (wordsEnd - wordsAt) / WORD_BYTES);
  for (let i = 0; i < words.length; i++) if (hasControl(words[i] ?? 0)) return false; // some() takes ten times as long
  return true;
}

const WORD_BYTES = 4;

/** Whether one of a word's bytes is below 0x20: its subtraction borrows from a bit that was not set. */
const hasControl = (word: number): boolean => ((word - 0x20202020) & ~word & 0x80808080) !== 0;
