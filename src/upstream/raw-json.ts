import { GatewayError } from '../domain/error.ts';

/** Deeper JSON than this is refused, so that no answer can exhaust the stack. No node nests a tenth as deep. */
const MAX_DEPTH = 128;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [MINUS, PLUS, DOT, ZERO, NINE, SMALL_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x65];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

const INTEGER = /^-?(0|[1-9][0-9]*)$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The members of a JSON object, each the exact bytes of its value, found without building any value. Of repeated
 * members the last counts. Throws `upstream_error` when `bytes` are anything but one whole object: the grammar is
 * checked to the last byte, except for what stands inside strings.
 */
export function members(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_OBJECT) throw malformed();
  const end = skipObject(bytes, start, 0, (nameStart, nameEnd, valueStart, valueEnd) =>
    found.set(nameOf(bytes, nameStart, nameEnd), bytes.subarray(valueStart, valueEnd)),
  );
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
  return found;
}

/** The exact bytes of one member's value. Reads and throws as {@link members} does. */
export const member = (bytes: Buffer, name: string): Buffer | undefined => members(bytes).get(name);

/** The elements of a JSON array, each byte for byte. Throws `upstream_error` for anything else. */
export function elements(bytes: Buffer): Buffer[] {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== OPEN_ARRAY) throw malformed();
  const found: Buffer[] = [];
  const end = skipArray(bytes, open, 0, (from, to) => found.push(bytes.subarray(from, to)));
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
  return found;
}

/** An integer that a double holds exactly, such as a slot. Throws `upstream_error` for anything else. */
export function safeInteger(bytes: Buffer | undefined): number {
  const digits = bytes?.toString('latin1') ?? '';
  const value = Number(digits);
  if (!INTEGER.test(digits) || !Number.isSafeInteger(value)) throw malformed();
  return value;
}

/** The text of a JSON string. Throws `upstream_error` for anything else. */
export function text(bytes: Buffer | undefined): string {
  const value = parse(bytes?.toString() ?? '');
  if (typeof value !== 'string') throw malformed();
  return value;
}

/**
 * The same JSON in the one spelling that can be compared and signed: compact, members sorted by name, the last of
 * repeated members kept, each number and each string as the node spelled it. Throws as {@link members} does.
 */
export function canonicalText(bytes: Buffer): string {
  try {
    utf8.decode(bytes); // else a broken character would silently become another one
  } catch (cause) {
    throw malformed(cause);
  }
  const start = skipSpace(bytes, 0);
  const end = skipValue(bytes, start, 0);
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
  return canonical(bytes, start, end);
}

/** Recurses no deeper than {@link skipValue} has allowed. */
function canonical(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] === OPEN_OBJECT) {
    const found = new Map<string, string>();
    skipObject(bytes, start, 0, (nameStart, nameEnd, valueStart, valueEnd) => {
      const spelled = bytes.toString('utf8', nameStart, nameEnd);
      found.set(nameOf(bytes, nameStart, nameEnd), `${spelled}:${canonical(bytes, valueStart, valueEnd)}`);
    });
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)); // no two names are equal
    return `{${sorted.map(([, spelled]) => spelled).join(',')}}`;
  }
  if (bytes[start] === OPEN_ARRAY) {
    const items: string[] = [];
    skipArray(bytes, start, 0, (from, to) => items.push(canonical(bytes, from, to)));
    return `[${items.join(',')}]`;
  }
  return bytes.toString('utf8', start, end);
}

// Each `skip` function takes the position where something starts and returns the position just after it.

function skipValue(bytes: Buffer, at: number, depth: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return skipString(bytes, at);
    case OPEN_OBJECT:
      return skipObject(bytes, at, depth);
    case OPEN_ARRAY:
      return skipArray(bytes, at, depth);
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

type VisitMember = (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void;

function skipObject(bytes: Buffer, open: number, depth: number, visit?: VisitMember): number {
  if (depth === MAX_DEPTH) throw malformed();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) throw malformed();
    const nameEnd = skipString(bytes, at);
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) throw malformed();
    const valueStart = skipSpace(bytes, colon + 1);
    const valueEnd = skipValue(bytes, valueStart, depth + 1);
    visit?.(at, nameEnd, valueStart, valueEnd);
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw malformed();
    at = skipSpace(bytes, at + 1);
  }
}

function skipArray(bytes: Buffer, open: number, depth: number, visit?: (start: number, end: number) => void): number {
  if (depth === MAX_DEPTH) throw malformed();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === CLOSE_ARRAY) return at + 1;
  for (;;) {
    const end = skipValue(bytes, at, depth + 1);
    visit?.(at, end);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_ARRAY) return at + 1;
    if (bytes[at] !== COMMA) throw malformed();
    at = skipSpace(bytes, at + 1);
  }
}

/** Jumps from quote to quote in native code: most bytes of a big answer stand inside strings. */
function skipString(bytes: Buffer, open: number): number {
  for (let quote = bytes.indexOf(QUOTE, open + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1; // an even number of backslashes: the quote isn't escaped
  }
  throw malformed();
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
  for (let byte = bytes[at] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[at] ?? 0) at++;
  if (at === start) throw malformed();
  return at;
}

function skipLiteral(bytes: Buffer, start: number, literal: string): number {
  const end = start + literal.length;
  if (bytes.toString('latin1', start, end) !== literal) throw malformed();
  return end;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at]) at++;
  return at;
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  const name = bytes.toString('utf8', start + 1, end - 1);
  return name.includes('\\') ? String(parse(`"${name}"`)) : name;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed(); // the parser's own message would quote the node's answer
  }
}

const malformed = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'the node gave no valid JSON', { cause });
