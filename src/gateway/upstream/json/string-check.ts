import { BACKSLASH, BLANK, malformed, QUOTE, WHOLE } from './json-scanner.ts';

/** What may follow a backslash in a string; `u` and four hexadecimal digits may, too. */
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const SMALL_U = 0x75;
const HEX: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789abcdefABCDEF'));

/**
 * Checks what the scanner passes over: that no string has a raw control character or an unknown escape (RFC 8259, 7). Only a
 * text with white space is looked at byte by byte: a backslash outside of a string is refused by the scanner.
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
    if (this.#isPlain && hasControls(this.#bytes, this.#at, until)) {
      this.#isPlain = false;
      this.#at = 0; // whether a string is open follows from all before
      return this.run(maxBytes);
    }
    if (this.#isPlain) this.#at = Math.max(until, checkEscapes(this.#bytes, this.#at, until));
    else this.#checkBytes(until);
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

function escapedLength(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0;
  if (ESCAPED.has(byte)) return 1;
  if (byte !== SMALL_U) throw malformed();
  for (let i = 1; i <= 4; i++) if (!HEX.has(bytes[at + i])) throw malformed();
  return 5;
}

/** Checks what is behind each backslash of a part. Returns where the last of these ends. */
function checkEscapes(bytes: Buffer, from: number, until: number): number {
  const part = bytes.subarray(0, until);
  let at = from;
  for (let next = part.indexOf(BACKSLASH, at); next >= 0; next = part.indexOf(BACKSLASH, at)) {
    at = next;
    while (at < until && bytes[at] === BACKSLASH) at += 1 + escapedLength(bytes, at + 1);
  }
  return at;
}

function hasControls(bytes: Buffer, from: number, until: number): boolean {
  const wordsAt = Math.min(until, from + (-(bytes.byteOffset + from) & (WORD_BYTES - 1)));
  const wordsEnd = until - ((until - wordsAt) % WORD_BYTES);
  for (let at = from; at < wordsAt; at++) if ((bytes[at] ?? 0) < BLANK) return true;
  for (let at = wordsEnd; at < until; at++) if ((bytes[at] ?? 0) < BLANK) return true;
  if (wordsAt === wordsEnd) return false; // a view must begin where a word does
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, (wordsEnd - wordsAt) / WORD_BYTES);
  for (let i = 0; i < words.length; i++) if (hasControl(words[i] ?? 0)) return true; // some() takes ten times as long
  return false;
}

const WORD_BYTES = 4;

/** Whether one of a word's bytes is below 0x20: its subtraction borrows from a bit that was not set. */
const hasControl = (word: number): boolean => ((word - 0x20202020) & ~word & 0x80808080) !== 0;
