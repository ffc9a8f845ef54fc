import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { runYielding, YIELD_EVERY_BYTES } from './cooperative.ts';
import {
  BACKSLASH,
  isCanonical,
  isOpening,
  malformed,
  OPEN_ARRAY,
  OPEN_OBJECT,
  PartsWalk,
  QUOTE,
  skipSpace,
  type Visitors,
  type VisitorsOf,
  type VisitPart,
  WHOLE,
} from './json-scanner.ts';

const MAX_I64 = 2n ** 63n - 1n;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;
const LONG_TEXT = 64 * 1024;

/** The most names of an object, and elements of an array that is found in one turn. No answer of a node has a tenth of them. */
const MAX_PARTS = 10_000;
/** The most values within what is found or handled in one turn: a transaction has a few thousand of them. */
const MAX_VALUES = 100_000;
/** The longest string, in bytes. Only the data of an account may be longer: {@link base64In}. */
const MAX_STRING = 1 << 20;
/** The most elements of an array that is found in turns: more rows of a list than fit into a response. */
const MAX_ROWS = 1_000_000;
/** The most elements with parts of an array that is shown in its one spelling: a token's metadata may have a million. */
const MAX_RUNS = 100_000;

/** Members of a JSON object by name: the exact bytes of each value. */
export type Members = ReadonlyMap<string, Buffer>;

/**
 * Finds the members of a JSON object, each the exact bytes of its value, without building any value. Of repeated
 * members the last counts. Throws `upstream_error` when `bytes` are anything but one whole object: the grammar is
 * checked to the last byte, except inside strings. Throws it also for a long one of more values than `maxValues`, which only a
 * thread may raise.
 */
export const members = (bytes: Buffer, maxValues = MAX_VALUES): Members => found(findMembers(bytes), maxValues);

/** Finds members as {@link members} does, and yields to the event loop in between: for long objects. */
export const membersYielding = (bytes: Buffer, yieldTurn?: () => Promise<void>): Promise<Members> =>
  foundYielding(findMembers(bytes), yieldTurn);

interface Search<T> {
  readonly walk: PartsWalk;
  readonly found: T;
}

function found<T>({ walk, found }: Search<T>, maxValues = MAX_VALUES): T {
  while (!walk.run(YIELD_EVERY_BYTES)) if (walk.values > maxValues) throw malformed();
  return found;
}

async function foundYielding<T>({ walk, found }: Search<T>, yieldTurn?: () => Promise<void>): Promise<T> {
  await runYielding(walk, yieldTurn);
  return found;
}

/** Returns the walk through a text, which must be one object or array. */
function walkWhole(bytes: Buffer, opening: number, visitors: Visitors): PartsWalk {
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== opening) throw malformed();
  return new PartsWalk(bytes, start, 0, visitors);
}

function findMembers(bytes: Buffer): Search<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const visit: VisitPart = (start, end, nameStart, nameEnd) => {
    found.set(nameOf(bytes, nameStart, nameEnd), bytes.subarray(start, end));
    if (found.size > MAX_PARTS) throw malformed();
  };
  return { found, walk: walkWhole(bytes, OPEN_OBJECT, { visit }) };
}

/** Finds the exact bytes of one member's value. Reads and throws as {@link members} does. */
export const member = (bytes: Buffer, name: string): Buffer | undefined => pickMembers(bytes, [name])[0];

/** In their order. In half the time of {@link members}, which reads and throws alike: no text is made. */
export const pickMembers = (bytes: Buffer, names: readonly string[]): Picked => pickNested(bytes, names)[0];

/** Members by the order of their names; undefined where there is none. */
export type Picked = readonly (Buffer | undefined)[];

/** Those of an object, then those of the member that is named last, if that is an object too, and so on. */
export type PickedNested = readonly [outer: Picked, ...inner: Picked[]];

/** Finds in one pass what {@link pickMembers} does of an object, then of its member that is named last, and so on. */
export const pickNested = (bytes: Buffer, ...names: NestedNames): PickedNested =>
  pickedOf(found(findNested(bytes, names)), bytes);

/** Does what {@link pickNested} does, and yields to the event loop in between: for long objects. */
export const pickNestedYielding = async (
  bytes: Buffer,
  names: NestedNames,
  yieldTurn?: () => Promise<void>,
): Promise<PickedNested> => pickedOf(await foundYielding(findNested(bytes, names), yieldTurn), bytes);

type NestedNames = readonly (readonly string[])[];

interface FoundObject {
  readonly start: number;
  readonly picked: (Buffer | undefined)[];
  /** What the member was in which the search goes on, where that was an object. */
  inner: FoundObject | undefined;
}

const foundAt = (start: number, names: readonly string[] = []): FoundObject => ({
  start,
  picked: Array<Buffer | undefined>(names.length).fill(undefined),
  inner: undefined,
});

function findNested(bytes: Buffer, names: NestedNames): Search<FoundObject> {
  const found = foundAt(0, names[0]);
  return { found, walk: walkWhole(bytes, OPEN_OBJECT, pickInto(found, bytes, names)) };
}

function pickInto(found: FoundObject, bytes: Buffer, [names = [], ...inner]: NestedNames): Visitors {
  const visit: VisitPart = (start, end, nameStart, nameEnd) => {
    for (let i = 0; i < names.length; i++)
      if (isNamed(bytes, nameStart, nameEnd, names[i] ?? '')) found.picked[i] = bytes.subarray(start, end);
  };
  if (inner.length === 0) return { visit };
  const visitorsOf: VisitorsOf = (start, nameStart, nameEnd) => {
    if (!isNamed(bytes, nameStart, nameEnd, names.at(-1) ?? '')) return undefined;
    found.inner = foundAt(start, inner[0]);
    return pickInto(found.inner, bytes, inner);
  };
  return { visit, visitorsOf };
}

function pickedOf({ picked, inner }: FoundObject, bytes: Buffer): PickedNested {
  const isOfLast = inner !== undefined && picked.at(-1)?.byteOffset === bytes.byteOffset + inner.start;
  return isOfLast ? [picked, ...pickedOf(inner, bytes)] : [picked]; // of repeated members the last counts
}

/** Returns true if a quoted name is this one, also if it is spelled with escapes, which make it longer. */
function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start <= name.length + 2) return isSpelled(bytes, start, end, name);
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return nameOf(bytes, start, end) === name;
  return false;
}

function isSpelled(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start !== name.length + 2) return false;
  let i = 0;
  while (i < name.length && bytes[start + 1 + i] === name.charCodeAt(i)) i++;
  return i === name.length;
}

/** Finds the elements of a JSON array, each byte for byte. Throws `upstream_error` for anything else, or for more than 10,000. */
export const elements = (bytes: Buffer): Buffer[] => found(findElements(bytes, MAX_PARTS));

/** Finds elements as {@link elements} does, but at most `most`, and yields to the event loop in between: for long arrays. */
export const elementsYielding = (bytes: Buffer, most = MAX_ROWS, yieldTurn?: () => Promise<void>): Promise<Buffer[]> =>
  foundYielding(findElements(bytes, most), yieldTurn);

/** Finds elements some at a time, so that the reader of a long array can yield between two of them. */
export function* eachElement(bytes: Buffer): Generator<Buffer, void> {
  const { walk, found } = findElements(bytes, Number.POSITIVE_INFINITY); // no more than some at a time
  for (let isOver = false; !isOver; ) {
    isOver = walk.run(ELEMENTS_AT_A_TIME);
    yield* found.splice(0);
  }
}

/**
 * Handles the elements of a long array, about `bytesPerTurn` bytes of it in one turn of the event loop. Throws `upstream_error` as
 * {@link elements} does, and for an element of more values than can be handled in one.
 */
export async function forEachElement(
  bytes: Buffer,
  bytesPerTurn: number,
  handle: (element: Buffer) => void,
): Promise<void> {
  const found: Buffer[] = [];
  let [turnEnd, valuesBefore] = [bytesPerTurn, 0];
  const visit: VisitPart = (start, end) => {
    if (walk.values - valuesBefore > MAX_VALUES) throw malformed();
    valuesBefore = walk.values;
    found.push(bytes.subarray(start, end));
  };
  const walk = walkWhole(bytes, OPEN_ARRAY, { visit });
  for (let isOver = false; !isOver; ) {
    isOver = walk.run(ELEMENTS_AT_A_TIME);
    for (const element of found.splice(0)) handle(element);
    if (walk.at < turnEnd) continue;
    await ownTurn();
    turnEnd = walk.at + bytesPerTurn;
  }
}

/** The bytes in which elements are found at a time. */
const ELEMENTS_AT_A_TIME = 4096;

function findElements(bytes: Buffer, most: number): Search<Buffer[]> {
  const found: Buffer[] = [];
  const visit: VisitPart = (start, end) => {
    if (found.push(bytes.subarray(start, end)) > most) throw malformed(); // each takes a hundred times its bytes
  };
  return { found, walk: walkWhole(bytes, OPEN_ARRAY, { visit }) };
}

/** Parses an integer that a double holds exactly, such as a slot. Throws `upstream_error` for anything else. */
export function parseSafeInteger(bytes: Buffer | undefined): number {
  const digits = shortText(bytes);
  const value = Number(digits);
  if (!INTEGER.test(digits) || !Number.isSafeInteger(value)) throw malformed();
  return value;
}

/** Parses a u64 such as lamports, which never becomes a double. Throws `upstream_error` for anything else. */
export const parseU64 = (bytes: Buffer | undefined): bigint => parseWithin(bytes, 0n, MAX_U64);

/** Parses an i64 such as a reward, which never becomes a double. Throws `upstream_error` for anything else. */
export const parseI64 = (bytes: Buffer | undefined): bigint => parseWithin(bytes, -MAX_I64 - 1n, MAX_I64);

function parseWithin(bytes: Buffer | undefined, least: bigint, most: bigint): bigint {
  const digits = shortText(bytes);
  if (!/^-?\d{1,20}$/.test(digits)) throw malformed();
  const value = BigInt(digits);
  if (value < least || value > most) throw malformed();
  return value;
}

/** Returns the text of a number, or of something as short; empty for what is longer, which would take a turn of the event loop. */
export const shortText = (bytes: Buffer | undefined): string =>
  bytes !== undefined && bytes.length <= MAX_SHORT ? bytes.toString('latin1') : '';

/** The digits of a u64, and those of an i64 with its sign. */
const MAX_SHORT = 20;

/** Returns true if a member is null or missing: nodes mean the same by both. */
export const isNull = (bytes: Buffer | undefined): boolean => bytes === undefined || bytes[0] === SMALL_N;

/** The first byte of `null`, and of no other JSON value. */
const SMALL_N = 0x6e;

/** Parses an integer that the node may not know: null or missing becomes null. */
export const parseIntegerOrNull = (bytes: Buffer | undefined): number | null =>
  isNull(bytes) ? null : parseSafeInteger(bytes);

/** Parses a u64 that the node may not know: null or missing becomes null. */
export const parseU64OrNull = (bytes: Buffer | undefined): bigint | null => (isNull(bytes) ? null : parseU64(bytes));

/** Parses a JSON string. Throws `upstream_error` for anything else. */
export function parseString(bytes: Buffer | undefined): string {
  if (bytes?.[0] !== QUOTE || bytes.length > MAX_STRING) throw malformed();
  return String(parseJson(bytes.toString()));
}

/** Returns the characters of a JSON string of base64, such as the data of an account. Throws as {@link parseString} does. */
export function base64In(bytes: Buffer | undefined): Buffer {
  const isPlain = bytes?.[0] === QUOTE && !bytes.includes(BACKSLASH);
  return isPlain ? bytes.subarray(1, -1) : Buffer.from(parseString(bytes));
}

/** Decodes a JSON string of base64. Throws as {@link parseString} does. */
export const parseBase64 = (bytes: Buffer | undefined): Buffer =>
  Buffer.from(base64In(bytes).toString('latin1'), 'base64');

/**
 * Rewrites JSON to the one spelling that can be compared and signed: compact, members sorted by name, the last of
 * repeated members kept, each number and each string as the node spelled it. Throws as {@link members} does.
 */
export function canonicalJson(bytes: Buffer): string {
  if (isUtf8(bytes) && isCanonical(bytes)) return textOf(bytes); // as most nodes write it
  const text = new CanonicalText(bytes);
  text.run(WHOLE);
  return text.short ?? textOf(Buffer.concat(text.parts));
}

/** Rewrites JSON as {@link canonicalJson} does, a long text in turns of the event loop. */
export async function canonicalJsonYielding(bytes: Buffer): Promise<string> {
  const text = new CanonicalText(bytes);
  await runYielding(text);
  return text.short ?? textOf(await concatInTurns(text.parts));
}

/** Rewrites JSON as {@link canonicalJsonYielding} does. Returns the text in parts, which to join is left to the caller. */
export async function canonicalParts(bytes: Buffer, yieldTurn?: () => Promise<void>): Promise<readonly Buffer[]> {
  const text = new CanonicalText(bytes);
  await runYielding(text, yieldTurn);
  return text.parts;
}

/** The length from which a value is not copied: the data of an account may have 14 MB. */
const LONG_VALUE = 16 * 1024;
const SCANNED_PER_WRITTEN = 8;

interface Piece {
  before: string;
  readonly start: number;
  end: number;
}

class CanonicalText {
  readonly #bytes: Buffer;
  readonly #parts: Buffer[] = [];
  #text = '';
  readonly #rest: Piece[] = [];
  /** Finds the next pieces. The first walk checks the whole text: none of the others goes deeper. */
  #walk: PartsWalk | undefined;
  #found: () => readonly Piece[];

  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) throw malformed(); // otherwise a broken character would silently become another one
    this.#bytes = bytes;
    const found: Piece[] = [];
    this.#found = () => found;
    this.#walk = new PartsWalk(bytes, -1, -1, { visit: addRun(bytes, found) });
  }

  /** The text, if no step ended within it and nothing in it is long. */
  get short(): string | undefined {
    return this.#parts.length === 0 ? this.#text : undefined;
  }

  get parts(): readonly Buffer[] {
    this.#flush();
    return this.#parts;
  }

  #flush(): void {
    if (this.#text !== '') this.#parts.push(Buffer.from(this.#text));
    this.#text = '';
  }

  run(maxBytes: number): boolean {
    for (let left = maxBytes; left > 0; ) {
      if (this.#walk !== undefined) left -= this.#find(this.#walk, left);
      else {
        const piece = this.#rest.pop();
        if (piece === undefined) return true;
        left -= this.#write(piece);
      }
    }
    this.#flush();
    return false;
  }

  /** Finds the next pieces. Returns the number of bytes that were scanned. */
  #find(walk: PartsWalk, maxBytes: number): number {
    const from = walk.at;
    if (walk.run(maxBytes)) {
      this.#walk = undefined;
      const found = this.#found();
      for (let i = found.length - 1; i >= 0; i--) {
        const piece = found[i] as Piece; // up to its length there is one
        if (i > 0) piece.before = `,${piece.before}`;
        this.#rest.push(piece);
      }
    }
    return walk.at - from;
  }

  /** Writes a piece, or begins to find those within it. Returns the number of bytes that could be scanned in that time. */
  #write({ before, start, end }: Piece): number {
    const bytes = this.#bytes;
    const length = end - start;
    this.#text += before;
    if (length === 0) return SCANNED_PER_WRITTEN;
    if (isOpening(bytes[start])) this.#findWithin(start);
    else if (length > LONG_VALUE) {
      this.#flush();
      this.#parts.push(bytes.subarray(start, end));
    } else {
      this.#text += bytes.toString('utf8', start, end);
      return SCANNED_PER_WRITTEN * length;
    }
    return SCANNED_PER_WRITTEN;
  }

  #findWithin(opening: number): void {
    const bytes = this.#bytes;
    if (bytes[opening] === OPEN_ARRAY) {
      const found: Piece[] = [];
      this.#found = () => found;
      this.#walk = new PartsWalk(bytes, opening, 1, { visit: addRun(bytes, found) });
      this.#text += '[';
      this.#rest.push({ before: ']', start: 0, end: 0 });
    } else {
      const byName = new Map<string, Piece>();
      this.#found = () => [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, piece]) => piece); // no two names are equal
      const visit: VisitPart = (start, end, nameStart, nameEnd) => {
        const before = `${bytes.toString('utf8', nameStart, nameEnd)}:`;
        byName.set(nameOf(bytes, nameStart, nameEnd), { before, start, end });
        if (byName.size > MAX_PARTS) throw malformed();
      };
      this.#walk = new PartsWalk(bytes, opening, 1, { visit });
      this.#text += '{';
      this.#rest.push({ before: '}', start: 0, end: 0 });
    }
  }
}

/**
 * Adds elements of an array in runs: each of those that have elements or members alone, and of the others all that have
 * nothing but commas between them. These are copied as they are: element by element a list of short ones takes a
 * hundred times as long.
 */
function addRun(bytes: Buffer, found: Piece[]): VisitPart {
  let last: Piece | undefined;
  return (start, end) => {
    const hasParts = isOpening(bytes[start]);
    if (!hasParts && last?.end === start - 1) {
      last.end = end;
      return;
    }
    const run = { before: '', start, end };
    if (found.push(run) > MAX_RUNS) throw new GatewayError('result_too_large', 'a list has too many parts to be shown');
    last = hasParts ? undefined : run;
  };
}

export const textOf = (bytes: Buffer): string =>
  bytes.toString(bytes.length > LONG_TEXT && isAscii(bytes) ? 'latin1' : 'utf8'); // Latin-1 is read in a tenth of the time

function nameOf(bytes: Buffer, start: number, end: number): string {
  const name = bytes.toString('utf8', start + 1, end - 1);
  return name.includes('\\') ? String(parseJson(`"${name}"`)) : name;
}

/** Throws `upstream_error` for what is no JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed(); // the parser's own message would quote the node's answer
  }
}
