import { ownTurn } from '../domain/own-turn.ts';
import { forEachChunk } from './for-each-chunk.ts';
import { sortInChunks } from './sort-in-chunks.ts';

/** The most rows: a rank of 32 bits and the number of a row have room in the 53 bits of a number that are exact. */
const MAX_ROWS = 2 ** 20;

/** The number of rows that are handled in one turn of the event loop: less than a millisecond's work. */
const CHUNK_LENGTH = 1024;

/** The number of rows that are ordered by the comparing function in one turn. */
const COMPARED_PER_TURN = 512;

/** The number of rows that are merged in one turn, which is ten times as fast. */
const MERGED_PER_TURN = 8192;

/** Gives a row an integer of 32 bits. */
export type RankOf = (row: number) => number;

/**
 * Sorts the rows 0 to `total` - 1, some at a time, so that no other request waits for all of them. The first rank orders
 * most of them, the next one those that share it, as all holders of an airdrop do, and `compare` those that share all
 * ranks. Sorting plain numbers, each a rank and its row, takes a fifth of the time that a comparing function does. Throws
 * a RangeError for more than a million rows.
 */
export async function sortByRank(
  total: number,
  [rankOf, ...ranks]: readonly [RankOf, ...RankOf[]],
  compare: (a: number, b: number) => number,
): Promise<Uint32Array<ArrayBuffer>> {
  if (total > MAX_ROWS) throw new RangeError(`expected at most ${MAX_ROWS} rows, got ${total}`);
  let keys = new Float64Array(total);
  await forEachChunk(total, CHUNK_LENGTH, (start, end) => {
    for (let row = start; row < end; row++) keys[row] = rankOf(row) * MAX_ROWS + row;
    keys.subarray(start, end).sort();
  });
  for (let length = CHUNK_LENGTH; length < total; length *= 2) keys = await mergePairs(keys, length);
  return orderWithinRanks(keys, ranks, compare);
}

/** Ranks a positive amount by its magnitude, the larger the lower: by the high half of it as a double. */
export function rankByAmount(amount: number): number {
  RANKED[0] = amount;
  return ~(HALVES[HIGH_HALF] ?? 0) >>> 0;
}

const RANKED = new Float64Array(1);
const HALVES = new Uint32Array(RANKED.buffer);
RANKED[0] = 1; // its low half is 0
const HIGH_HALF = HALVES[0] === 0 ? 1 : 0;

/** Merges each two neighbouring runs of a length into one. */
async function mergePairs(keys: Float64Array, length: number): Promise<Float64Array<ArrayBuffer>> {
  const merged = new Float64Array(keys.length);
  let untilTurn = MERGED_PER_TURN;
  for (let start = 0; start < keys.length; start += 2 * length) {
    const middle = Math.min(keys.length, start + length);
    const end = Math.min(keys.length, middle + length);
    for (let [at, a, b] = [start, start, middle]; at < end; at++) {
      const takesFirst = b === end || (a < middle && (keys[a] as number) <= (keys[b] as number)); // within the bounds
      merged[at] = (takesFirst ? keys[a++] : keys[b++]) as number;
      if (--untilTurn > 0) continue;
      untilTurn = MERGED_PER_TURN;
      await ownTurn();
    }
  }
  return merged;
}

/** Takes the rows out of sorted keys, and orders those of each rank. */
async function orderWithinRanks(
  keys: Float64Array,
  ranks: readonly RankOf[],
  compare: (a: number, b: number) => number,
): Promise<Uint32Array<ArrayBuffer>> {
  const order = new Uint32Array(keys.length);
  let sameRank: number[] = [];
  let rank = -1;
  let untilTurn = COMPARED_PER_TURN;
  const place = async (end: number): Promise<void> => {
    const rows = sameRank;
    const isShort = rows.length <= COMPARED_PER_TURN;
    order.set(isShort ? rows.sort(compare) : await sortRows(rows, ranks, compare), end - rows.length);
  };
  for (const [at, key] of keys.entries()) {
    const row = key % MAX_ROWS;
    if ((key - row) / MAX_ROWS !== rank) {
      if (sameRank.length > 1) await place(at);
      sameRank = [];
      rank = (key - row) / MAX_ROWS;
    }
    sameRank.push(row);
    order[at] = row;
    if (--untilTurn > 0) continue;
    untilTurn = COMPARED_PER_TURN;
    await ownTurn();
  }
  await place(keys.length);
  return order;
}

/** Sorts some of the rows by the ranks that are left, and then by `compare`. */
async function sortRows(
  rows: readonly number[],
  [rankOf, ...ranks]: readonly RankOf[],
  compare: (a: number, b: number) => number,
): Promise<ArrayLike<number>> {
  if (rankOf === undefined) return sortInChunks(rows, compare);
  const rowAt = (i: number): number => rows[i] as number; // the numbers that are sorted are places of rows
  const ofPlaces = [rankOf, ...ranks].map((rank) => (i: number) => rank(rowAt(i))) as [RankOf, ...RankOf[]]; // as many
  const order = await sortByRank(rows.length, ofPlaces, (a, b) => compare(rowAt(a), rowAt(b)));
  return order.map(rowAt);
}
