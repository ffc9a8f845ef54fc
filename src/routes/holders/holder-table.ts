import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Holder, HolderTable, OwnerTable } from '../../routing/holder-tables.ts';
import { rankByAmount, sortByRank } from '../../runtime/sort-by-rank.ts';
import { TOKEN_PROGRAMS, type TokenProgram } from '../../solana/accounts/token-program-accounts.ts';
import { decodeKey, encodeKey } from '../../solana/codec/base58-key.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { type ProgramAccountsFilter, readProgramAccounts } from '../../upstream/reads/program-accounts.ts';
import { createOwnerTable, type HolderRows, OWNER_ROW_BYTES } from './owner-table.ts';

/** Size of a token account without extensions. */
const ACCOUNT_SIZE = 165;

/** Bytes of a token account that are read: owner and amount. */
const DATA_SLICE = { offset: 32, length: 40 } as const;

/** Filter for accounts with extensions: Token-2022 writes the account type 2 behind the base, '3' in base58. */
const EXTENDED_ACCOUNT_FILTER = { memcmp: { offset: ACCOUNT_SIZE, bytes: '3' } } as const;

/** Filters per token program. Together with the mint they let nodes use their index of accounts by mint. */
const ACCOUNT_FILTERS: Readonly<Record<TokenProgram, readonly ProgramAccountsFilter[]>> = {
  'spl-token': [{ dataSize: ACCOUNT_SIZE }],
  'spl-token-2022': [{ dataSize: ACCOUNT_SIZE }, EXTENDED_ACCOUNT_FILTER],
};

/** Reads all holders of a mint by program scans. Rejects with the node's own error. */
export async function readHolderTable(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  program: TokenProgram,
  minContextSlot: Slot | undefined,
): Promise<HolderTable> {
  const mintFilter: ProgramAccountsFilter = { memcmp: { offset: 0, bytes: mint } };
  const slots: Slot[] = [];
  const rows = new PackedRows();
  for (const accountFilter of ACCOUNT_FILTERS[program]) {
    const floor = slots[0] ?? minContextSlot;
    const query = { filters: [mintFilter, accountFilter], dataSlice: DATA_SLICE, minContextSlot: floor };
    const add = (address: string, data: Buffer): void => rows.add(address, data);
    slots.push(await readProgramAccounts(mesh, TOKEN_PROGRAMS[program], query, add));
  }
  await rows.sort();
  return createTable(Math.min(...slots), rows);
}

/** Size of a packed row: the amount's complement, so that rows sort as bytes, then address and owner. */
const ROW_BYTES = 72;

/** Memory of a row's place in the order. */
const ORDER_BYTES = 4;

/** Largest table. */
const MAX_TABLE_BYTES = 40 << 20;

/** Rows of a block: blocks need no copy as rows are added. */
const ROWS_PER_BLOCK = 4096;

/** Rows of holders, packed in the order in which they came, and their order in the list. */
class PackedRows implements HolderRows {
  readonly #blocks: Buffer[] = [];
  #total = 0;
  /** The rows as they are listed, once they are sorted. */
  #order = new Uint32Array(0);

  get total(): number {
    return this.#total;
  }

  /** The memory of the sorted rows. */
  get bytes(): number {
    return this.#blocks.length * ROWS_PER_BLOCK * ROW_BYTES + this.total * ORDER_BYTES;
  }

  /** Adds a token account, unless it is empty. Throws `result_too_large` beyond {@link MAX_TABLE_BYTES}. */
  add(address: string, data: Buffer): void {
    const key = decodeKey(address);
    if (key === undefined || data.length !== DATA_SLICE.length)
      throw new GatewayError('upstream_error', 'a listed account is not a token account');
    const amount = data.readBigUInt64LE(32);
    if (amount === 0n) return;
    const row = this.#total;
    if (row * (ROW_BYTES + ORDER_BYTES) >= MAX_TABLE_BYTES)
      throw new GatewayError('result_too_large', 'the mint has too many holders');
    this.#total++;
    if (row % ROWS_PER_BLOCK === 0) this.#blocks.push(Buffer.allocUnsafeSlow(ROWS_PER_BLOCK * ROW_BYTES));
    const block = this.#blockOf(row);
    const at = startOf(row);
    block.writeBigUInt64BE(MAX_U64 - amount, at); // largest first
    block.set(key, at + 8);
    block.set(data.subarray(0, 32), at + 40);
  }

  /** Puts the rows in order, in turns of the event loop of their own. */
  async sort(): Promise<void> {
    const wordAt = (offset: number) => (row: number) => this.#blockOf(row).readUInt32BE(startOf(row) + offset);
    const [high, low, address] = [wordAt(0), wordAt(4), wordAt(8)];
    const magnitude = (row: number): number => rankByAmount((MAX_U32 - high(row)) * 2 ** 32 + (MAX_U32 - low(row)));
    this.#order = await sortByRank(this.#total, [magnitude, high, low, address], (a, b) => this.#compare(a, b));
  }

  addressAt(place: number): Buffer {
    return this.#bytesAt(place, 8, 40);
  }

  ownerAt(place: number): Buffer {
    return this.#bytesAt(place, 40, ROW_BYTES);
  }

  amountAt(place: number): bigint {
    return MAX_U64 - this.#bytesAt(place, 0, 8).readBigUInt64BE();
  }

  #bytesAt(place: number, from: number, to: number): Buffer {
    const row = this.#order[place] as number; // each place has one
    return this.#blockOf(row).subarray(startOf(row) + from, startOf(row) + to);
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

const MAX_U64 = 2n ** 64n - 1n;
const MAX_U32 = 2 ** 32 - 1;

function createTable(slot: Slot, rows: PackedRows): HolderTable {
  const { total } = rows;
  const holderAt = (place: number): Holder => ({
    address: encodeKey(rows.addressAt(place)),
    owner: encodeKey(rows.ownerAt(place)),
    amount: rows.amountAt(place),
  });
  let owners: Promise<OwnerTable> | undefined;
  return {
    slot,
    total,
    bytes: rows.bytes + total * OWNER_ROW_BYTES,
    rows: (from, to) => Array.from({ length: Math.max(0, Math.min(to, total) - from) }, (_, i) => holderAt(from + i)),
    owners() {
      owners ??= createOwnerTable(rows);
      return owners;
    },
  };
}
