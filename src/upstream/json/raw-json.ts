import { isAscii, isUtf8 } from 'node:buffer';
import { concatInTurns } from '../../domain/concat-in-turns.ts';
import { ownTurn } from '../../domain/own-turn.ts';
import { runYielding, YIELD_EVERY_BYTES, type YieldingWork } from './cooperative.ts';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  COMMA,
  isOpening,
  malformed,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipArray,
  skipIfShort,
  skipLongValue,
  skipObject,
  skipObjectYielding,
  skipSpace,
  skipValue,
  skipValueYielding,
  type VisitMember,
  type VisitorOf,
} from './json-scanner.ts';

const INTEGER = /^-?(0|[1-9][0-9]*)$/;
/** The length from which a text is worth another way of copying it. */
const LONG_TEXT = 64 * 1024;

/** Members of a JSON object by name: the exact bytes of each value. */
export type Members = ReadonlyMap<string, Buffer>;

/**
 * Finds the members of a JSON object, each the exact bytes of its value, without building any value. Of repeated
 * members the last counts. Throws `upstream_error` when `bytes` are anything but one whole object: the grammar is
 * checked to the last byte, except inside strings.
 */
export function members(bytes: Buffer): Members {
  const found = new Map<string, Buffer>();
  skipWholeObject(bytes, collect(bytes, found));
  return found;
}

/** Finds members as {@link members} does, and yields to the event loop in between: for long objects. */
export const membersYielding = (bytes: Buffer, yieldTurn = ownTurn): Promise<Members> =>
  runYielding(findMembers(bytes), yieldTurn);

/** The members of an object, and in turn those of one of them if it is an object, too. */
export interface NestedMembers {
  readonly outer: Members;
  readonly inner: Members | undefined;
}

/** Finds members as {@link membersYielding} does, and those of the member `name`, in one pass over long JSON. */
export async function nestedMembersYielding(bytes: Buffer, name: string, yieldTurn = ownTurn): Promise<NestedMembers> {
  let inner = new Map<string, Buffer>();
  let innerStart = -1;
  const outer = await runYielding(
    findMembers(bytes, (nameStart, nameEnd, valueStart) => {
      if (nameOf(bytes, nameStart, nameEnd) !== name) return undefined;
      inner = new Map();
      innerStart = valueStart;
      return collect(bytes, inner);
    }),
    yieldTurn,
  );
  const isOfLast = outer.get(name)?.byteOffset === bytes.byteOffset + innerStart; // of repeated members the last counts
  return { outer, inner: isOfLast ? inner : undefined };
}

function* findMembers(bytes: Buffer, visitorOf?: VisitorOf): YieldingWork<Members> {
  const found = new Map<string, Buffer>();
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_OBJECT) throw malformed();
  const end = yield* skipObjectYielding(bytes, start, 0, collect(bytes, found), visitorOf);
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
  return found;
}

const collect =
  (bytes: Buffer, found: Map<string, Buffer>): VisitMember =>
  (nameStart, nameEnd, valueStart, valueEnd) =>
    found.set(nameOf(bytes, nameStart, nameEnd), bytes.subarray(valueStart, valueEnd));

/** Skips one object, which must be all that there is. */
function skipWholeObject(bytes: Buffer, visit: VisitMember): void {
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_OBJECT) throw malformed();
  const end = skipObject(bytes, start, 0, visit);
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
}

/** Finds the exact bytes of one member's value. Reads and throws as {@link members} does. */
export const member = (bytes: Buffer, name: string): Buffer | undefined => pickMembers(bytes, [name])[0];

/**
 * Finds the values of the members with these ASCII names, in their order. Reads and throws as {@link members} does, in half
 * the time: no text is made.
 */
export function pickMembers(bytes: Buffer, names: readonly string[]): (Buffer | undefined)[] {
  const found = Array<Buffer | undefined>(names.length).fill(undefined);
  skipWholeObject(bytes, (nameStart, nameEnd, valueStart, valueEnd) => {
    for (let i = 0; i < names.length; i++)
      if (isNamed(bytes, nameStart, nameEnd, names[i] ?? '')) found[i] = bytes.subarray(valueStart, valueEnd);
  });
  return found;
}

/** Tells whether a quoted name is this one, also if it is spelled with escapes. */
function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start === name.length + 2) {
    let i = 0;
    while (i < name.length && bytes[start + 1 + i] === name.charCodeAt(i)) i++;
    if (i === name.length) return true;
  }
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return nameOf(bytes, start, end) === name;
  return false;
}

/** Finds the elements of a JSON array, each byte for byte. Throws `upstream_error` for anything else. */
export const elements = (bytes: Buffer): Buffer[] => [...eachElement(bytes)];

/** Finds elements as {@link elements} does, and yields to the event loop in between: for long arrays. */
export const elementsYielding = (bytes: Buffer, yieldTurn = ownTurn): Promise<Buffer[]> =>
  runYielding(findElements(bytes), yieldTurn);

function* findElements(bytes: Buffer): YieldingWork<Buffer[]> {
  const found: Buffer[] = [];
  yield* visitElements(bytes, (start, end) => found.push(bytes.subarray(start, end)));
  return found;
}

/** Calls `visit` with the positions of each element of an array. */
function* visitElements(bytes: Buffer, visit: (start: number, end: number) => void): YieldingWork<void> {
  let bytesSinceYield = 0;
  let next = firstElementAt(bytes);
  while (next !== undefined) {
    const end: number = skipIfShort(bytes, next, 1) ?? (yield* skipLongValue(bytes, next, 1));
    visit(next, end);
    bytesSinceYield += (end - next) % YIELD_EVERY_BYTES; // within a long one it has yielded
    next = nextElementAt(bytes, end);
    if (bytesSinceYield < YIELD_EVERY_BYTES) continue;
    yield;
    bytesSinceYield = 0;
  }
}

/** Finds elements one at a time, so that the reader of a long array can yield between two of them. */
export function* eachElement(bytes: Buffer): Generator<Buffer, void> {
  let next = firstElementAt(bytes);
  while (next !== undefined) {
    const end = skipValue(bytes, next, 1);
    yield bytes.subarray(next, end);
    next = nextElementAt(bytes, end);
  }
}

/** Returns where the first element of an array starts; undefined if it has none. */
function firstElementAt(bytes: Buffer): number | undefined {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== OPEN_ARRAY) throw malformed();
  const at = skipSpace(bytes, open + 1);
  return bytes[at] === CLOSE_ARRAY ? endOfArray(bytes, at) : at;
}

/** Returns where the element behind one starts; undefined if that was the last. */
function nextElementAt(bytes: Buffer, end: number): number | undefined {
  const at = skipSpace(bytes, end);
  if (bytes[at] === CLOSE_ARRAY) return endOfArray(bytes, at);
  if (bytes[at] !== COMMA) throw malformed();
  return skipSpace(bytes, at + 1);
}

function endOfArray(bytes: Buffer, close: number): undefined {
  if (skipSpace(bytes, close + 1) !== bytes.length) throw malformed();
}

/** Parses an integer that a double holds exactly, such as a slot. Throws `upstream_error` for anything else. */
export function parseSafeInteger(bytes: Buffer | undefined): number {
  const digits = bytes?.toString('latin1') ?? '';
  const value = Number(digits);
  if (!INTEGER.test(digits) || !Number.isSafeInteger(value)) throw malformed();
  return value;
}

/** Parses a u64 such as lamports, which never becomes a double. Throws `upstream_error` for anything else. */
export function parseU64(bytes: Buffer | undefined): bigint {
  const digits = bytes?.toString('latin1') ?? '';
  if (!/^\d{1,20}$/.test(digits)) throw malformed();
  return BigInt(digits);
}

/** Parses an i64 such as a reward, which never becomes a double. Throws `upstream_error` for anything else. */
export function parseI64(bytes: Buffer | undefined): bigint {
  const digits = bytes?.toString('latin1') ?? '';
  if (!/^-?\d{1,19}$/.test(digits)) throw malformed();
  return BigInt(digits);
}

/** Tells whether a member is null or missing: nodes mean the same by both. */
export const isNull = (bytes: Buffer | undefined): boolean => bytes === undefined || bytes.equals(NULL);

const NULL = Buffer.from('null');

/** Parses an integer that the node may not know: null or missing becomes null. */
export const parseIntegerOrNull = (bytes: Buffer | undefined): number | null =>
  isNull(bytes) ? null : parseSafeInteger(bytes);

/** Parses a u64 that the node may not know: null or missing becomes null. */
export const parseU64OrNull = (bytes: Buffer | undefined): bigint | null => (isNull(bytes) ? null : parseU64(bytes));

/** Parses a JSON string. Throws `upstream_error` for anything else. */
export function parseString(bytes: Buffer | undefined): string {
  const value = parse(bytes?.toString() ?? '');
  if (typeof value !== 'string') throw malformed();
  return value;
}

/**
 * Rewrites JSON to the one spelling that can be compared and signed: compact, members sorted by name, the last of
 * repeated members kept, each number and each string as the node spelled it. Throws as {@link members} does.
 */
export function canonicalJson(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed(); // otherwise a broken character would silently become another one
  const start = skipSpace(bytes, 0);
  const end = skipValue(bytes, start, 0);
  if (skipSpace(bytes, end) !== bytes.length) throw malformed();
  return canonical(bytes, start, end);
}

/** The bytes that are rewritten in one turn of the event loop: half a millisecond's work. */
const SHORT_VALUE = 16 * 1024;

/**
 * Rewrites JSON as {@link canonicalJson} does, and yields to the event loop in between. Returns the text in parts, which to
 * join is left to the caller.
 */
export async function canonicalParts(bytes: Buffer, yieldTurn = ownTurn): Promise<readonly Buffer[]> {
  if (!isUtf8(bytes)) throw malformed();
  const text = new TextInParts();
  await runYielding(writeWhole(bytes, text), yieldTurn);
  text.flush();
  return text.parts;
}

/** Rewrites JSON as {@link canonicalJson} does, a long text in turns of the event loop. */
export const canonicalJsonYielding = async (bytes: Buffer): Promise<string> =>
  bytes.length <= SHORT_VALUE ? canonicalJson(bytes) : joinParts(await canonicalParts(bytes));

/**
 * Joins parts of a text to one string in a turn of its own. It is one piece, since whatever looks at a string that was
 * joined from others copies it first.
 */
export async function joinParts(parts: readonly Buffer[]): Promise<string> {
  const whole = await concatInTurns(parts);
  await ownTurn();
  return textOf(whole, 0, whole.length);
}

/** A text whose long parts are not copied. */
class TextInParts {
  readonly parts: Buffer[] = [];
  #unflushed = '';

  get isDue(): boolean {
    return this.#unflushed.length >= SHORT_VALUE;
  }

  write(text: string): void {
    this.#unflushed += text;
  }

  writeLong(bytes: Buffer): void {
    this.flush();
    this.parts.push(bytes);
  }

  flush(): void {
    if (this.#unflushed !== '') this.parts.push(Buffer.from(this.#unflushed));
    this.#unflushed = '';
  }
}

function* writeWhole(bytes: Buffer, text: TextInParts): YieldingWork<void> {
  const whole = bytes.subarray(skipSpace(bytes, 0));
  if (whole.length > SHORT_VALUE && isOpening(whole[0])) return yield* writeCanonical(whole, text);
  const end = yield* skipValueYielding(whole, 0, 0);
  if (skipSpace(whole, end) !== whole.length) throw malformed();
  yield* writeCanonical(whole.subarray(0, end), text);
}

/**
 * Writes a value, which is checked to its last byte if it is long and has parts: so it recurses no deeper than scanning
 * the outermost has allowed.
 */
function* writeCanonical(value: Buffer, text: TextInParts): YieldingWork<void> {
  if (value.length <= SHORT_VALUE) text.write(canonical(value, 0, value.length));
  else if (value[0] === OPEN_OBJECT) {
    const found = new Map<string, { readonly spelled: string; readonly member: Buffer }>();
    const objectEnd = yield* skipObjectYielding(value, 0, 0, (nameStart, nameEnd, valueStart, valueEnd) =>
      found.set(nameOf(value, nameStart, nameEnd), {
        spelled: value.toString('utf8', nameStart, nameEnd),
        member: value.subarray(valueStart, valueEnd),
      }),
    );
    if (skipSpace(value, objectEnd) !== value.length) throw malformed();
    let separator = '';
    text.write('{');
    for (const [, { spelled, member }] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
      text.write(`${separator}${spelled}:`);
      yield* writeCanonical(member, text);
      separator = ',';
    }
    text.write('}');
  } else if (value[0] === OPEN_ARRAY) {
    const runs = new ElementRuns(value);
    yield* visitElements(value, runs.add);
    let separator = '';
    text.write('[');
    for (const { start, end } of runs.found) {
      text.write(separator);
      if (end - start > SHORT_VALUE || text.isDue) yield* writeCanonical(value.subarray(start, end), text);
      else text.write(canonical(value, start, end));
      separator = ',';
    }
    text.write(']');
  } else text.writeLong(value);
  if (!text.isDue) return;
  text.flush();
  yield;
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
    return `{${joined(sorted.map(([, spelled]) => spelled))}}`;
  }
  if (bytes[start] === OPEN_ARRAY) {
    const runs = new ElementRuns(bytes);
    skipArray(bytes, start, 0, runs.add);
    return `[${joined(runs.found.map((run) => canonical(bytes, run.start, run.end)))}]`;
  }
  return textOf(bytes, start, end);
}

/**
 * Elements of an array in runs: each of those that have elements or members alone, and as many of the others as have
 * nothing but commas between them. These are copied as they are: element by element a list of short ones takes a
 * hundred times as long.
 */
class ElementRuns {
  readonly found: { readonly start: number; end: number }[] = [];
  readonly #bytes: Buffer;
  #last: { end: number } | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Adds the next element. */
  readonly add = (start: number, end: number): void => {
    const hasParts = isOpening(this.#bytes[start]);
    if (!hasParts && this.#last?.end === start - 1) {
      this.#last.end = end;
      return;
    }
    const run = { start, end };
    this.found.push(run);
    this.#last = hasParts ? undefined : run;
  };
}

function textOf(bytes: Buffer, start: number, end: number): string {
  const isLongAscii = end - start > LONG_TEXT && isAscii(bytes.subarray(start, end));
  return bytes.toString(isLongAscii ? 'latin1' : 'utf8', start, end); // Latin-1 takes a tenth of the time
}

/** Joins texts by commas. A long one is not copied, as `Array.join` would do: the data of an account may have 14 MB. */
const joined = (texts: readonly string[]): string =>
  texts.some(({ length }) => length > LONG_TEXT)
    ? texts.reduce((all, text, index) => (index === 0 ? text : `${all},${text}`), '')
    : texts.join(',');

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
