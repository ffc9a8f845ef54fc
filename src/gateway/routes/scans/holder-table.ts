import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { once } from '../../../shared/runtime/once.ts';
import { type TaskOwner, ThreadPool } from '../../../shared/runtime/thread-pool.ts';
import { type AmountScale, TOKEN_PROGRAMS, type TokenProgram } from '../../../transactions/index.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { listProgramAccounts, type ProgramAccountsFilter } from '../../upstream/reads/program-accounts.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import { HOLDER_DATA_SLICE, HolderRows } from './holder-rows.ts';
import { OWNER_ROW_BYTES, OwnerRows } from './owner-rows.ts';
import type { ScanTablesKind } from './scan-tables.ts';
import type { TablingTasks } from './tabling-thread.ts';

export type Holder = ReturnType<HolderRows['holderAt']>;
export type OwnerHolding = ReturnType<OwnerRows['holdingAt']>;

interface OwnerTable {
  readonly total: number;
  rows(from: number, to: number): OwnerHolding[];
}

/** All holders of a mint at a slot, largest first, then by the bytes of their addresses. */
export interface HolderTable {
  readonly slot: Slot;
  /** The supply of the mint, and the scale of its amounts, of the same time. */
  readonly supply: bigint;
  readonly scale: AmountScale;
  readonly total: number;
  /** Memory of the table in bytes, with that of its owners once they are added up. */
  readonly bytes: number;
  rows(from: number, to: number): Holder[];
  /** Returns the same holders added up by owner, which takes long the first time. */
  owners(): Promise<OwnerTable>;
}

export const HOLDER_TABLES: ScanTablesKind<HolderTable> = {
  maxSize: 64 << 20, // bytes: about three of the largest scans
  sizeOf: ({ bytes }) => Math.max(bytes, 1),
  ttlMs: 60_000, // all pages read within it come from one table, so they agree with each other
  isRefused: isRefusal,
};

const ACCOUNT_SIZE = 165;

/** Filter for accounts with extensions: Token-2022 writes the account type 2 behind the base, '3' in base58. */
const EXTENDED_ACCOUNT_FILTER = { memcmp: { offset: ACCOUNT_SIZE, bytes: '3' } } as const;

/** Filters per token program. Together with the mint they let nodes use their index of accounts by mint. */
const ACCOUNT_FILTERS: Readonly<Record<TokenProgram, readonly ProgramAccountsFilter[]>> = {
  'spl-token': [{ dataSize: ACCOUNT_SIZE }],
  'spl-token-2022': [{ dataSize: ACCOUNT_SIZE }, EXTENDED_ACCOUNT_FILTER],
};

interface HolderScan {
  readonly slot: Slot;
  readonly lists: readonly Buffer[];
}

/** Lists all token accounts of a mint by program scans. Rejects with the node's own error. */
export async function scanHolders(
  mesh: Pick<Mesh, 'call'>,
  mint: string,
  program: TokenProgram,
  minContextSlot: Slot | undefined,
): Promise<HolderScan> {
  const mintFilter: ProgramAccountsFilter = { memcmp: { offset: 0, bytes: mint } };
  const slots: Slot[] = [];
  const lists: Buffer[] = [];
  for (const accountFilter of ACCOUNT_FILTERS[program]) {
    const floor = slots[0] ?? minContextSlot;
    const query = { filters: [mintFilter, accountFilter], dataSlice: HOLDER_DATA_SLICE, minContextSlot: floor };
    const { slot, rows } = await listProgramAccounts(mesh, TOKEN_PROGRAMS[program], query);
    slots.push(slot);
    lists.push(rows);
  }
  return { slot: Math.min(...slots), lists };
}

/** Makes tables in a thread, one at a time: a scan of 64 MiB takes a second or two. */
export const createHolderTabler = (clock: Clock): ThreadPool<TablingTasks> =>
  new ThreadPool({
    module: new URL('./tabling-thread.js', import.meta.url),
    clock,
    maxThreads: 1,
    maxHeapMb: 128,
    maxWaiting: 16,
    maxTaskMs: 10_000, // as long as a scan may take at a node
    idleMs: 10_000,
  });

export async function createHolderTable(
  { lists, ...ofMint }: HolderScan & Pick<HolderTable, 'supply' | 'scale'>,
  tabler: Pick<ThreadPool<TablingTasks>, 'run'>,
  owner: TaskOwner,
): Promise<HolderTable> {
  const memory = await tabler.run('packHolders', [...lists], owner);
  const holders = new HolderRows(memory);
  const { total } = holders;
  return {
    ...ofMint,
    total,
    bytes: memory.byteLength + total * OWNER_ROW_BYTES,
    rows: (from, to) => rangeOf(from, to, total, (row) => holders.holderAt(row)),
    // where no thread was free, there may be one the next time
    owners: once(async (): Promise<OwnerTable> => {
      const rows = new OwnerRows(await tabler.run('packOwners', [memory], owner), holders);
      return { total: rows.total, rows: (from, to) => rangeOf(from, to, rows.total, (i) => rows.holdingAt(i)) };
    }),
  };
}

/** Returns the items from one place to another, as far as there are any. */
const rangeOf = <T>(from: number, to: number, total: number, itemAt: (i: number) => T): T[] =>
  Array.from({ length: Math.max(0, Math.min(to, total) - from) }, (_, i) => itemAt(from + i));
