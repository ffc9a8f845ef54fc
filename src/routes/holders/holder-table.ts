import bs58 from 'bs58';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Holder, HolderTable } from '../../routing/holder-tables.ts';
import { mapInChunks } from '../../runtime/map-in-chunks.ts';
import { TOKEN_PROGRAMS, type TokenProgram } from '../../solana/accounts/token-program-accounts.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import {
  type ProgramAccountsFilter,
  parseProgramAccount,
  readProgramAccounts,
} from '../../upstream/reads/program-accounts.ts';

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
  const packed: Buffer[] = [];
  for (const accountFilter of ACCOUNT_FILTERS[program]) {
    const floor = slots[0] ?? minContextSlot;
    const query = { filters: [mintFilter, accountFilter], dataSlice: DATA_SLICE, minContextSlot: floor };
    const { slot, rows } = await readProgramAccounts(mesh, TOKEN_PROGRAMS[program], query);
    slots.push(slot);
    for (const row of await mapInChunks(rows, ROWS_PER_CHUNK, packRow)) if (amountOf(row) > 0n) packed.push(row);
  }
  return createTable(Math.min(...slots), await mergeSort(packed));
}

/** Rows per turn of the event loop: a few milliseconds of work. */
const ROWS_PER_CHUNK = 512;

/** Size of a packed row: the amount's complement, so that rows sort as bytes, then address and owner. */
const ROW_BYTES = 72;

function packRow(row: Buffer): Buffer {
  const { address, data } = parseProgramAccount(row);
  const key = bs58.decodeUnsafe(address);
  if (key?.length !== 32 || data.length !== DATA_SLICE.length) {
    throw new GatewayError('upstream_error', 'a listed account is not a token account');
  }
  const packed = Buffer.alloc(ROW_BYTES);
  packed.writeBigUInt64BE(MAX_U64 - data.readBigUInt64LE(32), 0); // largest first
  packed.set(key, 8);
  packed.set(data.subarray(0, 32), 40);
  return packed;
}

const MAX_U64 = 2n ** 64n - 1n;
const amountOf = (row: Buffer): bigint => MAX_U64 - row.readBigUInt64BE(0);

/** Sorts rows by merging runs, each in a turn of the event loop of its own, so that other requests go on. */
async function mergeSort(rows: readonly Buffer[]): Promise<readonly Buffer[]> {
  let runs = Array.from({ length: Math.ceil(rows.length / RUN_LENGTH) }, (_, i) =>
    rows.slice(i * RUN_LENGTH, (i + 1) * RUN_LENGTH),
  );
  await mapInChunks(runs, 1, (run) => run.sort(Buffer.compare));
  while (runs.length > 1) {
    const pairs = Array.from({ length: Math.ceil(runs.length / 2) }, (_, i) => runs.slice(2 * i, 2 * i + 2));
    const merged: Buffer[][] = [];
    for (const [a = [], b = []] of pairs) merged.push(await merge(a, b));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Rows that are sorted at once. */
const RUN_LENGTH = 4096;

async function merge(a: readonly Buffer[], b: readonly Buffer[]): Promise<Buffer[]> {
  const merged: Buffer[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [x, y] = [a[i], b[j]];
    if (x === undefined && y === undefined) return merged;
    if (y === undefined || (x !== undefined && Buffer.compare(x, y) <= 0)) {
      if (x !== undefined) merged.push(x);
      i++;
    } else {
      merged.push(y);
      j++;
    }
    if (merged.length % (4 * RUN_LENGTH) === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function createTable(slot: Slot, rows: readonly Buffer[]): HolderTable {
  const packed = Buffer.concat(rows, rows.length * ROW_BYTES);
  const holderAt = (i: number): Holder => {
    const row = packed.subarray(i * ROW_BYTES, (i + 1) * ROW_BYTES);
    return {
      address: bs58.encode(row.subarray(8, 40)),
      owner: bs58.encode(row.subarray(40, 72)),
      amount: amountOf(row),
    };
  };
  return {
    slot,
    total: rows.length,
    bytes: packed.length,
    rows: (from, to) =>
      Array.from({ length: Math.max(0, Math.min(to, rows.length) - from) }, (_, i) => holderAt(from + i)),
  };
}
