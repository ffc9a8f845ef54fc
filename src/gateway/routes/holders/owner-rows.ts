import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { rankByAmount, sortByRank } from '../../../shared/runtime/sort-by-rank.ts';
import { encodeKey } from '../../../transactions/index.ts';
import type { OwnerHolding } from '../routing/holder-tables.ts';
import type { HolderRows } from './holder-rows.ts';

/** The bytes of an owner: the sum of the accounts, the row of the largest one, their number. */
export const OWNER_ROW_BYTES = 16;

const MAX_U32 = 2n ** 32n - 1n;

/** What is read of the rows of holders, which stay the only copy of owners. */
type OwnedRows = Pick<HolderRows, 'total' | 'ownerAt' | 'amountAt'>;

/** The largest sum comes first, then by the bytes of the owner. It takes long, so a thread does it. */
export function packOwnerRows(rows: OwnedRows): SharedArrayBuffer {
  const [firstRows, counts, sums] = [
    new Uint32Array(rows.total),
    new Uint32Array(rows.total),
    new BigUint64Array(rows.total),
  ];
  let total = 0;
  let previous: Buffer | undefined;
  for (const row of groupByOwner(rows)) {
    const owner = rows.ownerAt(row);
    if (previous?.equals(owner) !== true) firstRows[total++] = row;
    previous = owner;
    const sum = (sums[total - 1] ?? 0n) + rows.amountAt(row);
    if (sum > MAX_U64) throw new GatewayError('upstream_error', 'the listed accounts hold more than any supply');
    sums[total - 1] = sum;
    counts[total - 1] = (counts[total - 1] ?? 0) + 1;
  }
  const magnitude = (owner: number): number => rankByAmount(Number(sums[owner]));
  const high = (owner: number): number => Number((MAX_U64 - (sums[owner] ?? 0n)) >> 32n);
  const low = (owner: number): number => Number((MAX_U64 - (sums[owner] ?? 0n)) & MAX_U32);
  const order = sortByRank(total, [magnitude, high, low], (a, b) => {
    const [x, y] = [sums[a] ?? 0n, sums[b] ?? 0n];
    return x === y ? a - b : x > y ? -1 : 1; // they are in the order of their bytes already
  });
  const memory = new SharedArrayBuffer(total * OWNER_ROW_BYTES);
  const packed = Buffer.from(memory);
  order.forEach((owner, i) => {
    packed.writeBigUInt64LE(sums[owner] ?? 0n, i * OWNER_ROW_BYTES);
    packed.writeUInt32LE(firstRows[owner] ?? 0, i * OWNER_ROW_BYTES + 8);
    packed.writeUInt32LE(counts[owner] ?? 0, i * OWNER_ROW_BYTES + 12);
  });
  return memory;
}

/** Returns the rows in the order of their owners' bytes, the rows of one owner as they are listed. */
const groupByOwner = (rows: OwnedRows): Uint32Array =>
  sortByRank(
    rows.total,
    [(row) => rows.ownerAt(row).readUInt32BE(0)],
    (a, b) => rows.ownerAt(a).compare(rows.ownerAt(b)) || a - b,
  );

export class OwnerRows {
  readonly #packed: Buffer;
  readonly #rows: OwnedRows;

  constructor(memory: SharedArrayBuffer, rows: OwnedRows) {
    this.#packed = Buffer.from(memory);
    this.#rows = rows;
  }

  get total(): number {
    return this.#packed.length / OWNER_ROW_BYTES;
  }

  holdingAt(i: number): OwnerHolding {
    const at = i * OWNER_ROW_BYTES;
    return {
      owner: encodeKey(this.#rows.ownerAt(this.#packed.readUInt32LE(at + 8))),
      amount: this.#packed.readBigUInt64LE(at),
      accounts: this.#packed.readUInt32LE(at + 12),
    };
  }
}
