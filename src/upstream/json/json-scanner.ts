import { GatewayError } from '../../domain/gateway-error.ts';
import { YIELD_EVERY_BYTES, type YieldingWork } from './cooperative.ts';

/** Deepest JSON that is accepted, so that no response can exhaust the stack. No node nests a tenth as deep. */
const MAX_DEPTH = 128;

/** Most digits, and most white space, in one place: they are skipped in one turn. */
const [MAX_DIGITS, MAX_SPACE] = [4096, 65_536];

const [QUOTE, COLON] = [0x22, 0x3a];
export const BACKSLASH = 0x5c;
const [MINUS, PLUS, DOT, ZERO, NINE, SMALL_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x65];
const CLOSE_OBJECT = 0x7d;
export const COMMA = 0x2c;
export const OPEN_OBJECT = 0x7b;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;

// A scanner of JSON (RFC 8259). Each function gets the position where something starts and returns the position just
// after it, or throws `upstream_error` where the grammar is broken.

/** Skips one value of any kind, `depth` levels deep. */
export const skipValue = (bytes: Buffer, at: number, depth: number): number =>
  isOpening(bytes[at]) ? skipParts(bytes, at, depth, [], bytes.length + 1) : skipScalar(bytes, at);

/** Skips one value, a long one in turns of the event loop. */
export function* skipValueYielding(bytes: Buffer, start: number, depth: number): YieldingWork<number> {
  return skipIfShort(bytes, start, depth) ?? (yield* skipLongValue(bytes, start, depth));
}

/** Skips one value that is scanned in one turn; undefined for a longer one. To make a generator takes longer than most. */
export function skipIfShort(bytes: Buffer, start: number, depth: number): number | undefined {
  if (bytes[start] === QUOTE) return skipStringUntil(bytes, start, start + YIELD_EVERY_BYTES);
  if (!isOpening(bytes[start])) return skipScalar(bytes, start);
  const open: number[] = [];
  const end = skipParts(bytes, start, depth, open, start + YIELD_EVERY_BYTES);
  return open.length === 0 ? end : undefined;
}

/** Skips one value and yields in between. */
export function* skipLongValue(bytes: Buffer, start: number, depth: number): YieldingWork<number> {
  const open: number[] = [];
  for (let at = start; ; ) {
    at = skipParts(bytes, at, depth, open, at + YIELD_EVERY_BYTES);
    if (open.length === 0) return at;
    yield;
  }
}

/**
 * Skips values from the start of one on, until the outermost ends, which leaves nothing in `open`, or the next begins at
 * `pauseAt` or later, or a string is longer. `open` has the brackets around `at`, outermost first, and a quote for such a
 * string.
 */
function skipParts(bytes: Buffer, start: number, depth: number, open: number[], pauseAt: number): number {
  let at = start;
  while (at < pauseAt) {
    const byte = bytes[at];
    const isInString = open[open.length - 1] === QUOTE;
    if (isInString || byte === QUOTE) {
      if (isInString) open.pop();
      const stringEnd = isInString ? findStringEnd(bytes, at, pauseAt) : skipStringUntil(bytes, at, pauseAt);
      if (stringEnd === undefined) {
        open.push(QUOTE);
        return pauseAt;
      }
      at = stringEnd;
    } else if (!isOpening(byte)) at = skipScalar(bytes, at);
    else {
      if (depth + open.length === MAX_DEPTH) throw malformed();
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== closingOf(byte)) {
        open.push(byte);
        if (byte === OPEN_OBJECT) at = skipName(bytes, at);
        continue;
      }
      at++;
    }
    for (;;) {
      const enclosing = open[open.length - 1];
      if (enclosing === undefined) return at;
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
  return at;
}

export const isOpening = (byte: number | undefined): byte is number => byte === OPEN_OBJECT || byte === OPEN_ARRAY;

const closingOf = (opening: number): number => (opening === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY);

function skipScalar(bytes: Buffer, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return skipString(bytes, at);
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
  if (bytes[at] !== QUOTE) throw malformed();
  return skipString(bytes, at);
}

function skipColon(bytes: Buffer, nameEnd: number): number {
  const colon = skipSpace(bytes, nameEnd);
  if (bytes[colon] !== COLON) throw malformed();
  return skipSpace(bytes, colon + 1);
}

export type VisitMember = (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void;

/** Returns the visitor for the members of an object that is a member's value. */
export type VisitorOf = (nameStart: number, nameEnd: number, valueStart: number) => VisitMember | undefined;

/** Skips an object and calls `visit` with the positions of each member's quoted name and value. */
export function skipObject(bytes: Buffer, open: number, depth: number, visit: VisitMember): number {
  if (depth === MAX_DEPTH) throw malformed();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    const nameEnd = skipQuoted(bytes, at);
    const start = skipColon(bytes, nameEnd);
    const end = skipValue(bytes, start, depth + 1);
    visit(at, nameEnd, start, end);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw malformed();
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Skips an object as {@link skipObject} does, and yields in between. The members of a member that is an object itself
 * are visited in the same pass by the visitor that `visitorOf` returns for it, if it returns any.
 */
export function* skipObjectYielding(
  bytes: Buffer,
  open: number,
  depth: number,
  visit: VisitMember,
  visitorOf?: VisitorOf,
): YieldingWork<number> {
  if (depth === MAX_DEPTH) throw malformed();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    const nameEnd = skipQuoted(bytes, at);
    const start = skipColon(bytes, nameEnd);
    const visitInner = bytes[start] === OPEN_OBJECT ? visitorOf?.(at, nameEnd, start) : undefined;
    const end =
      visitInner !== undefined
        ? yield* skipObjectYielding(bytes, start, depth + 1, visitInner)
        : (skipIfShort(bytes, start, depth + 1) ?? (yield* skipLongValue(bytes, start, depth + 1)));
    visit(at, nameEnd, start, end);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw malformed();
    at = skipSpace(bytes, at + 1);
  }
}

/** Skips an array and calls `visit` with the positions of each element. */
export function skipArray(
  bytes: Buffer,
  open: number,
  depth: number,
  visit: (start: number, end: number) => void,
): number {
  if (depth === MAX_DEPTH) throw malformed();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_ARRAY) return at + 1;
  for (;;) {
    const end = skipValue(bytes, at, depth + 1);
    visit(at, end);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_ARRAY) return at + 1;
    if (bytes[at] !== COMMA) throw malformed();
    at = skipSpace(bytes, at + 1);
  }
}

/** Characters of a string that are looked at one by one: a call into native code takes as long as some twenty. */
const SHORT_STRING = 16;

/** Looks at a string's first characters, then jumps from quote to quote in native code: a name is short, data is long. */
function skipString(bytes: Buffer, open: number): number {
  const end = skipStringUntil(bytes, open, bytes.length);
  if (end === undefined) throw malformed();
  return end;
}

/** Skips a string as {@link skipString} does; undefined if it doesn't end before `until`. */
function skipStringUntil(bytes: Buffer, open: number, until: number): number | undefined {
  const shortEnd = Math.min(open + SHORT_STRING, until);
  for (let at = open + 1; at < shortEnd && bytes[at] !== BACKSLASH; at++) if (bytes[at] === QUOTE) return at + 1;
  let quote = bytes.indexOf(QUOTE, open + 1);
  for (; quote >= 0 && quote < until; quote = bytes.indexOf(QUOTE, quote + 1))
    if (!isEscaped(bytes, quote)) return quote + 1;
  if (quote < 0) throw malformed();
  return undefined;
}

/** Tells whether an odd number of backslashes precedes a quote. */
function isEscaped(bytes: Buffer, quote: number): boolean {
  let before = quote - 1;
  while (bytes[before] === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

/** Finds the end of a string from a position within it on; undefined if there is none before `until`. */
function findStringEnd(bytes: Buffer, from: number, until: number): number | undefined {
  const part = bytes.subarray(from, until);
  for (let at = part.indexOf(QUOTE); at >= 0; at = part.indexOf(QUOTE, at + 1))
    if (!isEscaped(bytes, from + at)) return from + at + 1;
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
  return at;
}

function skipLiteral(bytes: Buffer, start: number, literal: string): number {
  for (let i = 0; i < literal.length; i++) if (bytes[start + i] !== literal.charCodeAt(i)) throw malformed();
  return start + literal.length;
}

/** Skips white space, if there is any. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at])
    if (++at - start > MAX_SPACE) throw malformed();
  return at;
}

/** Creates the error for a node's broken JSON. */
export const malformed = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'a node sent invalid JSON', { cause });
