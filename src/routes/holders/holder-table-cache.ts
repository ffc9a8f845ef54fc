import { SingleFlight } from '../../cache/single-flight.ts';
import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RequestCost } from '../../domain/request-cost.ts';
import type { Slot } from '../../domain/slot.ts';
import type {
  HoldersQuery,
  HolderTable,
  HolderTabler,
  HolderTables,
  ReadHolders,
} from '../../routing/holder-tables.ts';
import type { ScanGate } from '../scans/scan-gate.ts';
import { isScanRefused, ScanRefusals } from '../scans/scan-refusals.ts';

/** Life of a table. All pages read within it come from one table, so they agree with each other. */
const TTL_MS = 60_000;

/** Maximum memory of all tables: about three of the largest scans. */
const MAX_BYTES = 64 << 20;

interface CachedTable {
  readonly table: HolderTable;
  readonly expiresMs: number;
}

/** Caches holder tables up to a total size, and refusals. Concurrent reads of one mint share one scan. */
export class HolderTableCache implements HolderTables {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tables = new Map<string, CachedTable>();
  readonly #refusals: ScanRefusals;
  readonly #flights = new SingleFlight<HolderTable>();
  readonly #gate: Pick<ScanGate, 'run'>;
  readonly #tabler: HolderTabler;

  constructor(clock: Pick<Clock, 'monotonic'>, gate: Pick<ScanGate, 'run'>, tabler: HolderTabler) {
    this.#clock = clock;
    this.#refusals = new ScanRefusals(clock);
    this.#gate = gate;
    this.#tabler = tabler;
  }

  get(mint: string, minSlot: Slot = 0): HolderTable | undefined {
    const cached = this.#tables.get(mint);
    const isCurrent = cached !== undefined && this.#clock.monotonic() < cached.expiresMs;
    return isCurrent && cached.table.slot >= minSlot ? cached.table : undefined;
  }

  async getOrRead({ mint, minSlot }: HoldersQuery, read: ReadHolders, cost?: RequestCost): Promise<HolderTable> {
    const cached = this.get(mint, minSlot);
    if (cached !== undefined) return cached;
    const refusal = this.#refusals.get(mint);
    if (refusal !== undefined) throw refusal;
    const caller = cost?.caller;
    return this.#flights.run(mint, () => this.#gate.run(caller, () => this.#readAndStore(mint, read, caller)));
  }

  async #readAndStore(mint: string, read: ReadHolders, caller: string | undefined): Promise<HolderTable> {
    try {
      const table = await read(this.#tabler, caller);
      this.#store(mint, table);
      return table;
    } catch (thrown) {
      if (thrown instanceof GatewayError && isScanRefused(thrown)) this.#refusals.set(mint, thrown);
      throw thrown;
    }
  }

  /** Stores a table, then removes the oldest ones: the expired, and as many as the memory bound requires. */
  #store(mint: string, table: HolderTable): void {
    const nowMs = this.#clock.monotonic();
    this.#tables.delete(mint);
    this.#tables.set(mint, { table, expiresMs: nowMs + TTL_MS });
    let bytes = 0;
    for (const { table } of this.#tables.values()) bytes += table.bytes;
    for (const [name, { table, expiresMs }] of this.#tables) {
      if (expiresMs > nowMs && bytes <= MAX_BYTES) break;
      bytes -= table.bytes;
      this.#tables.delete(name);
    }
  }
}
