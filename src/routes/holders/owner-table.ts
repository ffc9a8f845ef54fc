import { GatewayError } from '../../domain/gateway-error.ts';
import type { OwnerHolding, OwnerTable } from '../../routing/holder-tables.ts';
import { forEachChunk } from '../../runtime/for-each-chunk.ts';
import { rankByAmount, sortByRank } from '../../runtime/sort-by-rank.ts';
import { encodeKey } from '../../solana/codec/base58-key.ts';

/** The rows of a holder table, which stays the only copy of owners and amounts. */
export interface HolderRows {
  readonly total: number;
  /** Returns the 32 bytes of the owner of a row. */
  ownerAt(row: number): Buffer;
  amountAt(row: number): bigint;
}

/** The bytes of an owner: the sum of the accounts, the row of the largest one, their number. */
export const OWNER_ROW_BYTES = 16;

/** Rows that are added up in one turn of the event loop. */
const CHUNK_LENGTH = 1024;

const MAX_U64 = 2n ** 64n - 1n;
const MAX_U32 = 2n ** 32n - 1n;

/** Adds up the token accounts of each owner, largest sum first, then by the bytes of the owner. */
export async function createOwnerTable(rows: HolderRows): Promise<OwnerTable> {
  const grouped = await groupByOwner(rows);
  const [firstRows, counts, sums] = [
    new Uint32Array(rows.total),
    new Uint32Array(rows.total),
    new BigUint64Array(rows.total),
  ];
  let total = 0;
  let previous: Buffer | undefined;
  await forEachItem(grouped, (row) => {
    const owner = rows.ownerAt(row);
    if (previous?.equals(owner) !== true) firstRows[total++] = row;
    previous = owner;
    const sum = (sums[total - 1] ?? 0n) + rows.amountAt(row);
    if (sum > MAX_U64) throw new GatewayError('upstream_error', 'the listed accounts hold more than any supply');
    sums[total - 1] = sum;
    counts[total - 1] = (counts[total - 1] ?? 0) + 1;
  });

  const magnitude = (owner: number): number => rankByAmount(Number(sums[owner]));
  const high = (owner: number): number => Number((MAX_U64 - (sums[owner] ?? 0n)) >> 32n);
  const low = (owner: number): number => Number((MAX_U64 - (sums[owner] ?? 0n)) & MAX_U32);
  const order = await sortByRank(total, [magnitude, high, low], (a, b) => {
    const [x, y] = [sums[a] ?? 0n, sums[b] ?? 0n];
    return x === y ? a - b : x > y ? -1 : 1; // they are in the order of their bytes already
  });
  const packed = Buffer.allocUnsafeSlow(total * OWNER_ROW_BYTES);
  await forEachItem(order, (owner, i) => {
    packed.writeBigUInt64LE(sums[owner] ?? 0n, i * OWNER_ROW_BYTES);
    packed.writeUInt32LE(firstRows[owner] ?? 0, i * OWNER_ROW_BYTES + 8);
    packed.writeUInt32LE(counts[owner] ?? 0, i * OWNER_ROW_BYTES + 12);
  });
  const holdingAt = (i: number): OwnerHolding => ({
    owner: encodeKey(rows.ownerAt(packed.readUInt32LE(i * OWNER_ROW_BYTES + 8))),
    amount: packed.readBigUInt64LE(i * OWNER_ROW_BYTES),
    accounts: packed.readUInt32LE(i * OWNER_ROW_BYTES + 12),
  });
  return {
    total,
    rows: (from, to) => Array.from({ length: Math.max(0, Math.min(to, total) - from) }, (_, i) => holdingAt(from + i)),
  };
}

/** Returns the rows in the order of their owners' bytes, the rows of one owner as they are listed. */
const groupByOwner = (rows: HolderRows): Promise<Uint32Array> =>
  sortByRank(
    rows.total,
    [(row) => rows.ownerAt(row).readUInt32BE(0)],
    (a, b) => rows.ownerAt(a).compare(rows.ownerAt(b)) || a - b,
  );

const forEachItem = (items: Uint32Array, work: (item: number, i: number) => void): Promise<void> =>
  forEachChunk(items.length, CHUNK_LENGTH, (start, end) => {
    for (let i = start; i < end; i++) work(items[i] ?? 0, i);
  });
