import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { rankByAmount, sortByRank } from '../../../shared/runtime/sort-by-rank.ts';
import { decodeKey, MULTISIG_BYTES } from '../../../transactions/index.ts';
import { eachProgramAccount, parseListedSpace } from '../../upstream/reads/program-accounts.ts';

/** Bytes of a token account that are read: owner and amount. */
export const HOLDER_DATA_SLICE = { offset: 32, length: 40 } as const;

/** Size of a packed row: the amount's complement, so that rows sort as bytes, then address and owner. */
const ROW_BYTES = 72;
const MAX_TABLE_BYTES = 40 << 20;

/** Rows of a block: blocks need no copy as rows are added. */
const ROWS_PER_BLOCK = 4096;
const MAX_U32 = 2 ** 32 - 1;

/**
 * Packs the holders in lists of token accounts, which are the JSON of getProgramAccounts, largest first, then by the bytes of
 * their addresses; empty accounts are left out. The first list has accounts of the length of a token account only, a second
 * one those with extensions: an account that grew between the two counts as in the first one. It takes seconds, so a thread
 * does it; threads share the memory of the rows. Throws `result_too_large` beyond {@link MAX_TABLE_BYTES}.
 */
export function packHolderRows(lists: readonly Buffer[]): SharedArrayBuffer {
  const rows = new UnsortedRows();
  const listed = new Set<string>(); // the addresses in the first of several lists
  for (const [at, list] of lists.entries()) {
    const isExtended = at > 0;
    for (const { address, data, row } of eachProgramAccount(list)) {
      const key = decodeKey(address);
      if (key === undefined || data.length !== HOLDER_DATA_SLICE.length) throw noTokenAccount();
      if (isExtended) {
        const space = parseListedSpace(row); // a node need not say it where the scan is of one length
        if (Number.isNaN(space)) throw noTokenAccount();
        if (space === MULTISIG_BYTES) continue; // its signers, which anyone may choose, can look like a holder
        if (listed.has(address)) continue;
      } else if (lists.length > 1) listed.add(address);
      rows.add(key, data);
    }
  }
  return rows.sorted();
}

const noTokenAccount = (): GatewayError =>
  new GatewayError('upstream_error', 'a listed account is not a token account');

class UnsortedRows {
  readonly #blocks: Buffer[] = [];
  #total = 0;

  /** Adds a token account, unless it is empty. */
  add(key: Uint8Array, data: Buffer): void {
    const amount = data.readBigUInt64LE(32);
    if (amount === 0n) return;
    const row = this.#total;
    if (row * ROW_BYTES >= MAX_TABLE_BYTES) throw new GatewayError('result_too_large', 'the mint has too many holders');
    this.#total++;
    if (row % ROWS_PER_BLOCK === 0) this.#blocks.push(Buffer.allocUnsafeSlow(ROWS_PER_BLOCK * ROW_BYTES));
    const block = this.#blockOf(row);
    const at = startOf(row);
    block.writeBigUInt64BE(MAX_U64 - amount, at); // largest first
    block.set(key, at + 8);
    block.set(data.subarray(0, 32), at + 40);
  }

  sorted(): SharedArrayBuffer {
    const wordAt = (offset: number) => (row: number) => this.#blockOf(row).readUInt32BE(startOf(row) + offset);
    const [high, low, address] = [wordAt(0), wordAt(4), wordAt(8)];
    const magnitude = (row: number): number => rankByAmount((MAX_U32 - high(row)) * 2 ** 32 + (MAX_U32 - low(row)));
    const order = sortByRank(this.#total, [magnitude, high, low, address], (a, b) => this.#compare(a, b));
    const memory = new SharedArrayBuffer(this.#total * ROW_BYTES);
    const rows = Buffer.from(memory);
    order.forEach((row, place) => {
      this.#blockOf(row).copy(rows, place * ROW_BYTES, startOf(row), startOf(row) + ROW_BYTES);
    });
    return memory;
  }

  #compare(a: number, b: number): number {
    const [x, y] = [startOf(a), startOf(b)];
    return this.#blockOf(a).compare(this.#blockOf(b), y, y + ROW_BYTES, x, x + ROW_BYTES);
  }

  #blockOf(row: number): Buffer {
    return this.#blocks[Math.floor(row / ROWS_PER_BLOCK)] as Buffer; // each row has one
  }
}

const startOf = (row: number): number => (row % ROWS_PER_BLOCK) * ROW_BYTES;

export class HolderRows {
  readonly memory: SharedArrayBuffer;
  readonly #rows: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#rows = Buffer.from(memory);
  }

  get total(): number {
    return this.#rows.length / ROW_BYTES;
  }

  addressAt(row: number): Buffer {
    return this.#rows.subarray(row * ROW_BYTES + 8, row * ROW_BYTES + 40);
  }

  ownerAt(row: number): Buffer {
    return this.#rows.subarray(row * ROW_BYTES + 40, (row + 1) * ROW_BYTES);
  }

  amountAt(row: number): bigint {
    return MAX_U64 - this.#rows.readBigUInt64BE(row * ROW_BYTES);
  }
}
