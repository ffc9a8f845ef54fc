import { GatewayError } from '../../../shared/domain/gateway-error.ts';

/**
 * Deepest JSON that is accepted, so that no response can exhaust the stack. A node shows a validator's own JSON of up to 127
 * levels at the eighth one (agave, parse_config.rs), and whoever wrote that must not make its answer a failure.
 */
const MAX_DEPTH = 160;

/** Most digits, most white space in one place, and the longest name: they are skipped in one turn. */
const [MAX_DIGITS, MAX_SPACE, MAX_NAME] = [4096, 65_536, 65_536];

export const QUOTE = 0x22;
const COLON = 0x3a;
export const BACKSLASH = 0x5c;
const [MINUS, PLUS, DOT, ZERO, NINE, SMALL_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x65];
export const BLANK = 0x20;
const LAST_ASCII = 0x7e;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
export const OPEN_OBJECT = 0x7b;
export const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** The time of a value in that of bytes that are looked at one by one: blanks, digits, and backslashes of a string. */
const BYTES_PER_VALUE = 16;
/** The time of a backslash: the quote behind it is found by a call into native code. */
const BYTES_PER_BACKSLASH = 8;
/** What was looked at singly so far, in bytes; it wraps. */
let looked = 0;

// A scanner of JSON (RFC 8259). Each function gets the position where something starts and returns the position just
// after it, or throws `upstream_error` where the grammar is broken.

/**
 * Returns true for one whole value that is spelled canonically: without white space, and the names of each object in their
 * order, each once, of plain ASCII. False for any other text, also if it is no JSON.
 */
export function isCanonical(bytes: Buffer): boolean {
  try {
    return canonicalEnd(bytes, 0, 0) === bytes.length;
  } catch {
    return false;
  }
}

/** Returns where a canonical value ends, or -1 where it isn't one. Throws where it is no JSON. */
function canonicalEnd(bytes: Buffer, start: number, depth: number): number {
  const opening = bytes[start];
  if (opening === QUOTE) return skipString(bytes, start, bytes.length) ?? -1;
  if (!isOpening(opening)) return skipScalar(bytes, start);
  if (depth === MAX_DEPTH) return -1;
  const closing = closingOf(opening);
  let at = start + 1;
  if (bytes[at] === closing) return at + 1;
  let [nameBefore, nameBeforeEnd] = [0, 0];
  for (;;) {
    if (opening === OPEN_OBJECT) {
      const end = plainNameEnd(bytes, at);
      if (end < 0 || (nameBefore > 0 && !isAfter(bytes, at, end, nameBefore, nameBeforeEnd))) return -1;
      [nameBefore, nameBeforeEnd] = [at, end];
      if (bytes[end + 1] !== COLON) return -1;
      at = end + 2;
    }
    at = canonicalEnd(bytes, at, depth + 1);
    if (at < 0) return -1;
    if (bytes[at] === closing) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at++;
  }
}

/** Returns true if the first name comes after the second one. Native code would need longer to be called. */
function isAfter(bytes: Buffer, start: number, end: number, before: number, beforeEnd: number): boolean {
  const shorter = Math.min(end - start, beforeEnd - before);
  for (let i = 0; i < shorter; i++) {
    const difference = (bytes[start + i] ?? 0) - (bytes[before + i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return end - start > beforeEnd - before;
}

/** Returns the position of the quote behind a name of plain ASCII; -1 for any other. */
function plainNameEnd(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < start + MAX_NAME; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < BLANK || byte === BACKSLASH || byte > LAST_ASCII) return -1;
  }
  return -1;
}

export const isOpening = (byte: number | undefined): byte is number => byte === OPEN_OBJECT || byte === OPEN_ARRAY;

const closingOf = (opening: number | undefined): number => (opening === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY);

function skipScalar(bytes: Buffer, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return skipLiteral(bytes, at, 'true');
    case 0x66:
      return skipLiteral(bytes, at, 'false');
    case 0x6e:
      return skipLiteral(bytes, at, 'null');
    default:
      return skipNumber(bytes, at);
  }
}

/** Skips the name of a member and its colon, to where the value starts. */
const skipName = (bytes: Buffer, at: number): number => skipColon(bytes, skipQuoted(bytes, at));

function skipQuoted(bytes: Buffer, at: number): number {
  const end = bytes[at] === QUOTE ? skipString(bytes, at, at + MAX_NAME) : undefined;
  if (end === undefined) throw malformed();
  return end;
}

function skipColon(bytes: Buffer, nameEnd: number): number {
  const colon = skipSpace(bytes, nameEnd);
  if (bytes[colon] !== COLON) throw malformed();
  return skipSpace(bytes, colon + 1);
}

/** Called with the positions of each member's value and quoted name, or of each element. */
export type VisitPart = (start: number, end: number, nameStart: number, nameEnd: number) => void;

export interface Visitors {
  readonly visit: VisitPart;
  readonly visitorsOf?: VisitorsOf | undefined;
}

/** Returns the visitors for the members of an object that is a member's value. */
export type VisitorsOf = (start: number, nameStart: number, nameEnd: number) => Visitors | undefined;

/**
 * Visits the parts of one value: the members of an object, or the elements of an array. One of depth 0 is the whole text;
 * at depth -1 the only part is the whole text, and there is no opening bracket. A walk through long JSON is made in steps.
 * The members of a member that is an object itself are visited in the same pass, by the visitors that `visitorsOf`
 * returns for it, if it returns any.
 */
export class PartsWalk {
  readonly #bytes: Buffer;
  readonly #depth: number;
  readonly #closing: number | undefined;
  readonly #visit: VisitPart;
  readonly #visitorsOf: VisitorsOf | undefined;
  /** The brackets that are open within the part at which the walk has paused, outermost first, and a quote for a string. */
  readonly #open: number[] = [];
  #inner: PartsWalk | undefined;
  /** Those that were skipped so far: parts, and what is within them. What else takes as long counts as well. */
  values = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #start = -1;
  #at: number;
  #isOver: boolean;

  constructor(bytes: Buffer, opening: number, depth: number, { visit, visitorsOf }: Visitors) {
    if (depth === MAX_DEPTH) throw malformed();
    this.#bytes = bytes;
    this.#depth = depth;
    this.#closing = opening < 0 ? undefined : closingOf(bytes[opening]);
    this.#visit = visit;
    this.#visitorsOf = visitorsOf;
    this.#at = skipSpace(bytes, opening + 1);
    this.#isOver = opening >= 0 && bytes[this.#at] === this.#closing;
    if (this.#isOver) this.#at++;
  }

  get at(): number {
    return this.#at;
  }

  /** Walks on for about that many bytes. Returns true at the end of the value. */
  run(maxBytes: number): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    const before = looked;
    const pauseAt = at + maxBytes;
    while (!this.#isOver && at < pauseAt) {
      if (this.#start < 0) at = this.#enterPart(at);
      at = this.#skipPart(at, pauseAt);
      if (this.#open.length > 0 || this.#inner !== undefined) break;
      this.#visit(this.#start, at, this.#nameStart, this.#nameEnd);
      this.#start = -1;
      at = skipSpace(bytes, at);
      if (bytes[at] === this.#closing) this.#isOver = true;
      else if (bytes[at] !== COMMA || this.#closing === undefined) throw malformed();
      at = this.#isOver ? at + 1 : skipSpace(bytes, at + 1);
    }
    if (this.#isOver && this.#depth === 0 && skipSpace(bytes, at) !== bytes.length) throw malformed();
    this.#at = at;
    this.values += ((looked - before) | 0) / BYTES_PER_VALUE;
    return this.#isOver;
  }

  #enterPart(at: number): number {
    const bytes = this.#bytes;
    this.#start = at;
    if (this.#closing !== CLOSE_OBJECT) return at;
    this.#nameStart = at;
    this.#nameEnd = skipQuoted(bytes, at);
    this.#start = skipColon(bytes, this.#nameEnd);
    if (this.#visitorsOf !== undefined && bytes[this.#start] === OPEN_OBJECT) {
      const inner = this.#visitorsOf(this.#start, this.#nameStart, this.#nameEnd);
      this.#inner = inner && new PartsWalk(bytes, this.#start, this.#depth + 1, inner);
    }
    return this.#start;
  }

  /** Returns where the part ends, or the position at which to go on within it. */
  #skipPart(at: number, pauseAt: number): number {
    if (this.#inner === undefined) return this.#skipValues(at, Math.max(pauseAt, at + 1));
    const inner = this.#inner;
    if (inner.run(pauseAt - at)) this.#inner = undefined;
    return inner.#at;
  }

  /**
   * Skips values from the start of one on until the outermost ends, which leaves nothing open, or the next begins at `pauseAt` or
   * later, or a string is longer: that goes on with a character that is not escaped.
   */
  #skipValues(start: number, pauseAt: number): number {
    const [bytes, open] = [this.#bytes, this.#open];
    let [at, values] = [start, 0];
    walk: while (at < pauseAt) {
      const byte = bytes[at];
      const isInString = open.length > 0 && open[open.length - 1] === QUOTE;
      if (!isInString) values++;
      if (isInString || byte === QUOTE) {
        if (isInString) open.pop();
        const stringEnd = isInString ? findStringEnd(bytes, at, pauseAt) : skipString(bytes, at, pauseAt);
        if (stringEnd === undefined) {
          open.push(QUOTE);
          at = isEscaped(bytes, pauseAt, isInString ? at : at + 1) ? pauseAt + 1 : pauseAt;
          break;
        }
        at = stringEnd;
      } else if (!isOpening(byte)) at = skipScalar(bytes, at);
      else {
        if (this.#depth + 1 + open.length === MAX_DEPTH) throw malformed();
        at = skipSpace(bytes, at + 1);
        if (bytes[at] !== closingOf(byte)) {
          open.push(byte);
          if (byte === OPEN_OBJECT) at = skipName(bytes, at);
          continue;
        }
        at++;
      }
      for (;;) {
        if (open.length === 0) break walk;
        const enclosing = open[open.length - 1];
        at = skipSpace(bytes, at);
        if (bytes[at] === COMMA) {
          at = skipSpace(bytes, at + 1);
          if (enclosing === OPEN_OBJECT) at = skipName(bytes, at);
          break;
        }
        if (bytes[at] !== closingOf(enclosing)) throw malformed();
        open.pop();
        at++;
      }
    }
    looked = (looked + BYTES_PER_VALUE * values) | 0;
    return at;
  }
}

/** More bytes than any buffer has that is walked through in one step; the sum with a position is a small integer. */
export const WHOLE = 2 ** 30;

/** Characters of a string that are looked at one by one: a call into native code takes as long as some twenty. */
const SHORT_STRING = 16;

/** Undefined if it doesn't end before `until`. First characters singly, then native jumps from quote to quote. */
function skipString(bytes: Buffer, open: number, until: number): number | undefined {
  const shortEnd = Math.min(open + SHORT_STRING, until);
  for (let at = open + 1; at < shortEnd && bytes[at] !== BACKSLASH; at++) if (bytes[at] === QUOTE) return at + 1;
  let quote = bytes.indexOf(QUOTE, open + 1);
  for (; quote >= 0 && quote < until; quote = bytes.indexOf(QUOTE, quote + 1))
    if (!isEscaped(bytes, quote, open + 1)) return quote + 1;
  if (quote < 0) throw malformed();
  return undefined;
}

/** Returns true if an odd number of backslashes precedes a character of a string. That at `start` is not escaped. */
function isEscaped(bytes: Buffer, at: number, start: number): boolean {
  let before = at - 1;
  while (before >= start && bytes[before] === BACKSLASH) before--;
  looked = (looked + BYTES_PER_BACKSLASH * (at - 1 - before)) | 0;
  return (at - before) % 2 === 0;
}

/** Finds the end of a string from an unescaped character within it on; undefined if there is none before `until`. */
function findStringEnd(bytes: Buffer, from: number, until: number): number | undefined {
  const part = bytes.subarray(from, until);
  for (let at = part.indexOf(QUOTE); at >= 0; at = part.indexOf(QUOTE, at + 1))
    if (!isEscaped(bytes, from + at, from)) return from + at + 1;
  if (until >= bytes.length) throw malformed();
  return undefined;
}

function skipNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  at = bytes[at] === ZERO ? at + 1 : skipDigits(bytes, at);
  if (bytes[at] === DOT) at = skipDigits(bytes, at + 1);
  if (((bytes[at] ?? 0) | 0x20) === SMALL_E) {
    const sign = bytes[at + 1];
    at = skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
  }
  return at;
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start;
  for (let byte = bytes[at] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[at] ?? 0)
    if (++at - start > MAX_DIGITS) throw malformed();
  if (at === start) throw malformed();
  looked = (looked + at - start) | 0;
  return at;
}

function skipLiteral(bytes: Buffer, start: number, literal: string): number {
  for (let i = 0; i < literal.length; i++) if (bytes[start + i] !== literal.charCodeAt(i)) throw malformed();
  return start + literal.length;
}

export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at])
    if (++at - start > MAX_SPACE) throw malformed();
  if (at !== start) looked = (looked + at - start) | 0; // most places have none
  return at;
}

export const malformed = (): GatewayError => new GatewayError('upstream_error', 'a node sent invalid JSON');
