import { compare } from '../../../shared/domain/compare.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { encodeKey } from '../../../transactions/index.ts';
import { type HolderRows, orderOfRows } from './holder-rows.ts';

/** The bytes of an owner: the sum of the accounts, the row of the largest one, their number. */
export const OWNER_ROW_BYTES = 16;

/** What is read of the rows of holders, which stay the only copy of owners. */
type OwnedRows = Pick<HolderRows, 'total' | 'ownerAt' | 'amountAt'>;

/** The largest sum comes first, then by the bytes of the owner. It takes long, so a thread does it. */
export function packOwnerRows(rows: OwnedRows): SharedArrayBuffer {
  const owners: { readonly row: number; sum: bigint; accounts: number }[] = [];
  for (const row of orderOfRows(rows.total, (a, b) => rows.ownerAt(a).compare(rows.ownerAt(b)))) {
    const last = owners.at(-1);
    if (last === undefined || !rows.ownerAt(last.row).equals(rows.ownerAt(row))) {
      owners.push({ row, sum: rows.amountAt(row), accounts: 1 });
      continue;
    }
    last.sum += rows.amountAt(row);
    last.accounts++;
  }
  if (owners.some(({ sum }) => sum > MAX_U64))
    throw new GatewayError('upstream_error', 'the listed accounts hold more than any supply');
  owners.sort((a, b) => compare(b.sum, a.sum)); // of equal sums the order stays that of the bytes
  const memory = new SharedArrayBuffer(owners.length * OWNER_ROW_BYTES);
  const packed = Buffer.from(memory);
  owners.forEach(({ row, sum, accounts }, i) => {
    packed.writeBigUInt64LE(sum, i * OWNER_ROW_BYTES);
    packed.writeUInt32LE(row, i * OWNER_ROW_BYTES + 8);
    packed.writeUInt32LE(accounts, i * OWNER_ROW_BYTES + 12);
  });
  return memory;
}

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

  holdingAt(i: number) {
    const at = i * OWNER_ROW_BYTES;
    return {
      owner: encodeKey(this.#rows.ownerAt(this.#packed.readUInt32LE(at + 8))),
      amount: this.#packed.readBigUInt64LE(at),
      accounts: this.#packed.readUInt32LE(at + 12),
    };
  }
}
