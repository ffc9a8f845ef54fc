/** The most rows: a rank of 32 bits and the number of a row have room in the 53 bits of a number that are exact. */
const MAX_ROWS = 2 ** 20;

/** The number of rows from which further ranks are worth their while. */
const MANY_ROWS = 64;

/** Gives a row an integer of 32 bits. */
export type RankOf = (row: number) => number;

/**
 * Sorts the rows 0 to `total` - 1. The first rank orders most of them, the next one those that share it, as all holders of
 * an airdrop do, and `compare` those that share all ranks. Sorting plain numbers, each a rank and its row, takes a fifth of
 * the time that a comparing function does. Throws a RangeError for more than a million rows.
 */
export function sortByRank(
  total: number,
  [rankOf, ...ranks]: readonly [RankOf, ...RankOf[]],
  compare: (a: number, b: number) => number,
): Uint32Array<ArrayBuffer> {
  if (total > MAX_ROWS) throw new RangeError(`expected at most ${MAX_ROWS} rows, got ${total}`);
  const keys = new Float64Array(total);
  for (let row = 0; row < total; row++) keys[row] = rankOf(row) * MAX_ROWS + row;
  keys.sort();
  const order = Uint32Array.from(keys, (key) => key % MAX_ROWS);
  for (let start = 0; start < total; ) {
    const rank = Math.floor((keys[start] as number) / MAX_ROWS);
    let end = start + 1;
    while (end < total && Math.floor((keys[end] as number) / MAX_ROWS) === rank) end++;
    if (end - start > 1) sortRows(order.subarray(start, end), ranks, compare);
    start = end;
  }
  return order;
}

/** Sorts some of the rows in place, by the ranks that are left, and then by `compare`. */
function sortRows(
  rows: Uint32Array,
  [rankOf, ...ranks]: readonly RankOf[],
  compare: (a: number, b: number) => number,
): void {
  if (rankOf === undefined || rows.length < MANY_ROWS) {
    rows.sort(compare);
    return;
  }
  const rowAt = (i: number): number => rows[i] as number; // the numbers that are sorted are places of rows
  const ofPlaces = [rankOf, ...ranks].map((rank) => (i: number) => rank(rowAt(i))) as [RankOf, ...RankOf[]]; // as many
  const order = sortByRank(rows.length, ofPlaces, (a, b) => compare(rowAt(a), rowAt(b)));
  rows.set(order.map(rowAt));
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
