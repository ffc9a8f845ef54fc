import { GatewayError } from '../../domain/gateway-error.ts';
import { ownTurn } from '../../domain/own-turn.ts';
import type { OwnerHolding, OwnerTable } from '../../routing/holder-tables.ts';
import { sortInChunks } from '../../runtime/sort-in-chunks.ts';
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

/** Adds up the token accounts of each owner, largest sum first, then by the bytes of the owner. */
export async function createOwnerTable(rows: HolderRows): Promise<OwnerTable> {
  const grouped = await groupByOwner(rows);
  const [firstRows, counts, sums] = [
    new Uint32Array(rows.total),
    new Uint32Array(rows.total),
    new BigUint64Array(rows.total),
  ];
  let total = 0;
  await forEachInChunks(grouped, (row, i) => {
    if (i === 0 || rows.ownerAt(grouped[i - 1] ?? 0).compare(rows.ownerAt(row)) !== 0) firstRows[total++] = row;
    const sum = (sums[total - 1] ?? 0n) + rows.amountAt(row);
    if (sum > MAX_U64) throw new GatewayError('upstream_error', 'the listed accounts hold more than any supply');
    sums[total - 1] = sum;
    counts[total - 1] = (counts[total - 1] ?? 0) + 1;
  });

  const rounded = new Float64Array(total);
  const owners = await indexesBelow(total);
  await forEachInChunks(owners, (owner) => {
    rounded[owner] = Number(sums[owner]); // orders most owners without a bigint
  });
  const order = await sortInChunks(owners, (a, b) => {
    const difference = (rounded[b] ?? 0) - (rounded[a] ?? 0);
    if (difference !== 0) return difference;
    const [x, y] = [sums[a] ?? 0n, sums[b] ?? 0n];
    return x === y ? a - b : x > y ? -1 : 1; // they are in the order of their bytes already
  });
  const packed = Buffer.allocUnsafeSlow(total * OWNER_ROW_BYTES);
  await forEachInChunks(order, (owner, i) => {
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

/** Returns the rows in the order of their owners' bytes. */
async function groupByOwner(rows: HolderRows): Promise<readonly number[]> {
  const all = await indexesBelow(rows.total);
  const prefixes = new Float64Array(rows.total); // the first 6 bytes order most owners
  await forEachInChunks(all, (row) => {
    prefixes[row] = rows.ownerAt(row).readUIntBE(0, 6);
  });
  return sortInChunks(all, (a, b) => {
    const difference = (prefixes[a] ?? 0) - (prefixes[b] ?? 0);
    return difference !== 0 ? difference : rows.ownerAt(a).compare(rows.ownerAt(b));
  });
}

async function indexesBelow(total: number): Promise<readonly number[]> {
  const indexes: number[] = [];
  while (indexes.length < total) {
    if (indexes.length > 0) await ownTurn();
    const end = Math.min(total, indexes.length + CHUNK_LENGTH);
    while (indexes.length < end) indexes.push(indexes.length);
  }
  return indexes;
}

async function forEachInChunks(items: readonly number[], work: (item: number, i: number) => void): Promise<void> {
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % CHUNK_LENGTH === 0) await ownTurn();
    work(item, i);
  }
}
